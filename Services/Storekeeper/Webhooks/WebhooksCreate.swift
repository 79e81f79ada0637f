import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage
import WebhookDelivery

/// `storekeeper webhooks create`: makes an endpoint and prints its secret.
struct WebhooksCreate: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "create", abstract: "Create a webhook endpoint and print its secret.",
        discussion: """
            The service sends it webhook.test at once; after the first answer 2xx it gets the changes that are applied from \
            now on. One of kind apple is not tested, and gets Apple's notifications as Apple sends them: for a server that \
            Apple called before.

            Examples:
              storekeeper webhooks create --environment Production --url https://backend.example.com/hook
              storekeeper webhooks create --environment Sandbox --url https://backend.example.com/hook \\
                --app com.example.app --fact accessUntil
              storekeeper webhooks create --environment Production --url https://old.example.com/apple --kind apple
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Option(help: "URL of the receiver, https://.")
    var url: String

    @Option(help: "changes, or apple for Apple's own requests.")
    var kind = WebhookEndpoint.Kind.changes

    @OptionGroup var filter: WebhookFilterOptions

    @Flag(help: "Send each event as soon as possible, also before an earlier one of its purchase.")
    var unordered = false

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func validate() throws { try asUsage { _ = try operation() } }

    private func operation() throws(OperationError) -> CreateWebhook {
        try CreateWebhook(
            url: url, environment: environment, filter: filter.filter, isOrdered: !unordered, kind: kind)
    }

    func run(in context: CommandContext) async throws {
        let (operation, id) = (try operation(), context.id())
        filter.warn(of: kind, in: context)
        guard !dryRun else { return try operation.plan(id: id).show(output, in: context) }
        let secrets = try WebhookSecrets(in: context)
        let connection = try database.connection(for: "webhooks", in: context)
        for app in filter.apps { try await KnownAppsWarning(connection: connection).warn(about: app, in: context) }
        let endpoint = try await operation.perform(on: connection, id: id, by: try audit.performer(in: context))
        try WebhookSecretView(endpoint.id, generation: endpoint.generation, secrets).print(output, in: context)
    }
}

/// `storekeeper webhooks secret`: prints the secret of an endpoint.
struct WebhooksSecret: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "secret", abstract: "Print the secret of an endpoint.",
        discussion: "Example: storekeeper webhooks secret 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0")

    @OptionGroup var options: WebhookOptions

    func run(in context: CommandContext) async throws {
        let secrets = try WebhookSecrets(in: context)
        let connection = try options.database.connection(for: "webhooks", in: context)
        let endpoint = try await ChangeWebhook.find(options.endpoint, on: connection).endpoint
        try WebhookSecretView(endpoint.id, generation: endpoint.generation, secrets).print(options.output, in: context)
    }
}

/// `storekeeper webhooks rotate`: begins a new secret.
struct WebhooksRotate: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Begin a new secret and print it.",
        discussion: """
            For a day both secrets sign each request. Configure the new one in that time.

            Example: storekeeper webhooks rotate 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --note "leaked in a log"
            """)

    @OptionGroup var options: WebhookOptions
    @OptionGroup var audit: AuditOptions

    func run(in context: CommandContext) async throws {
        let secrets = try WebhookSecrets(in: context)
        let connection = try options.database.connection(for: "webhooks", in: context)
        let operation = try await ChangeWebhook(.rotate, of: options.endpoint, on: connection)
        let generation = try await operation.perform(on: connection, by: try audit.performer(in: context))
        try WebhookSecretView(options.endpoint, generation: generation, secrets).print(options.output, in: context)
    }
}

extension WebhookEndpoint.Kind: ExpressibleByArgument {}

/// A secret as it is printed.
struct WebhookSecretView: Encodable {
    var endpoint: String
    var secret: String
    var generation: Int

    init(_ endpoint: UUID, generation: Int32, _ secrets: WebhookSecrets) {
        self.endpoint = endpoint.uuidString.lowercased()
        secret = secrets.text(of: endpoint, generation: generation)
        self.generation = Int(generation)
    }

    func print(_ output: OutputOptions, in context: CommandContext) throws {
        guard !output.json else { return try output.print(json: self, in: context) }
        context.print(secret)
        context.warn("Secret \(generation) of endpoint \(endpoint); storekeeper webhooks show follows its test.")
    }
}
