import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Refunds
import Storage

/// `storekeeper refunds policy`: the policy of an app.
struct RefundsPolicyCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "policy", abstract: "Show or set the policy for refund requests of an app.",
        discussion: "Example: storekeeper refunds policy show --app com.example.app --versions",
        subcommands: [RefundsPolicyShow.self, RefundsPolicySet.self])
}

/// `storekeeper refunds policy show`
struct RefundsPolicyShow: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the policy in force, or its versions.",
        discussion: """
            Prints the document as it was set, for a file.

            Example: storekeeper refunds policy show --app com.example.app
            """)

    @OptionGroup var options: AppOptions

    @Flag(help: "List the versions, with who added each.")
    var versions = false

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "refunds", in: context)
        try await options.show(
            RefundPolicyStore(connection), versions: versions, none: "The app has no policy.",
            missing:
                "\(options.app.escaped) has no policy in \(options.environment.rawValue), so no refund request of it is answered: "
                + "storekeeper refunds policy set", in: context)
    }
}

/// `storekeeper refunds policy set`
struct RefundsPolicySet: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Add a version of the policy; open requests are decided by it.",
        discussion: """
            Requests that are decided stay as they are. With consent in the policy, customers count as consenting by its terms: \
            that they agreed is your duty, and the audit log says who set it.

            Example: storekeeper refunds policy set policy.json --app com.example.app --dry-run
            """)

    @OptionGroup var options: AppOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var policy: JSONDocumentFile

    @Flag(help: "Print what the policy would do; set nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try SetRefundPolicy(try policy.read(), of: options.app, in: options.environment)
        let connection = try options.database.connection(for: "refunds", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: options.app, in: context)
        guard !dryRun else {
            return try await operation.plan(on: connection, at: context.now()).show(options.output, in: context)
        }
        operation.policy.warnings.forEach(context.warn)
        let number = try await operation.perform(on: connection, by: try audit.performer(in: context))
        try options.show(added: number, in: context)
    }
}
