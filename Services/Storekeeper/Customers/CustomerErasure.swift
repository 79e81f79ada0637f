import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper customers erase`: forgets a customer.
struct EraseCustomerCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "erase", abstract: "Erase a customer: account, records and signed payloads.",
        discussion: """
            Deletes the customer's records, the account in all purchases, and every signed payload that names it. The \
            purchases stay as sales without a customer. What Apple sends later, and what is replayed, recovered or rebuilt, \
            brings nothing back. Kafka's topics hold older records until their retention ends; the printed certificate says \
            when. This cannot be undone: look at --dry-run first. Running it again prints the same certificate.

            Example: storekeeper customers erase user-4711 --app com.example.app --environment Production --note "ticket 812"
            """)

    @OptionGroup var erasure: ErasureOptions

    func run(in context: CommandContext) async throws { try await erasure.run(.erase, in: context) }
}

/// `storekeeper customers detach`: separates a customer from the purchases.
struct DetachCustomer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "detach", abstract: "Detach a customer from all purchases and delete the customer's records.",
        discussion: """
            As storekeeper customers erase, but keeps the payloads that Apple signed, which name the account. Another account can \
            claim the purchases afterwards. This cannot be undone; storekeeper customers erase may follow.

            Example: storekeeper customers detach user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var erasure: ErasureOptions

    func run(in context: CommandContext) async throws { try await erasure.run(.detach, in: context) }
}

/// The customer that is to be forgotten.
struct ErasureOptions: ParsableArguments {
    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Print what would be erased; change nothing.")
    var dryRun = false

    func run(_ extent: ErasureStore.Extent, in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let operation = EraseCustomer(
            .named(options.customer), of: options.app, in: options.environment, extent: extent)
        guard !dryRun else {
            return try show(try await operation.preview(on: connection), extent, in: context)
        }
        let certificate = try await operation.perform(
            on: connection, id: context.id(), by: try audit.performer(in: context))
        guard !options.output.json else { return try options.output.print(json: Page(certificate), in: context) }
        FactLines.of([
            ("certificate", certificate.id.uuidString.lowercased()), ("extent", certificate.extent.rawValue),
            ("app", certificate.bundleId), ("environment", certificate.environment.rawValue),
            ("erased", certificate.erasedAt.text), ("purchases", "\(certificate.purchases)"),
            ("payloads", "\(certificate.payloads)"),
            ("topics", "older records in Kafka are deleted by \(certificate.topicsUntil.text)"),
        ]).forEach(context.print)
    }

    private func show(
        _ preview: ErasureStore.Preview, _ extent: ErasureStore.Extent, in context: CommandContext
    ) throws {
        let plan = Plan(preview, extent, options)
        guard !options.output.json else { return try options.output.print(json: plan, in: context) }
        FactLines.of([
            ("dry run", "nothing was changed"), ("extent", plan.extent), ("app", plan.app),
            ("environment", plan.environment), ("token", plan.appAccountToken),
            ("purchases", "\(plan.purchases) would be without a customer"),
            ("payloads", "\(plan.payloads) would be deleted"), ("grants", "\(plan.grants) would be deleted"),
            (
                "before",
                plan.certificateId.map { "\(preview.isErased ? "erased" : "detached"), certificate \($0)" } ?? "-"
            ),
        ]).forEach(context.print)
    }

    /// What `--dry-run` prints.
    struct Plan: Encodable {
        var dryRun = true
        var extent: String
        var app: String
        var environment: String
        var customerId: String?
        var appAccountToken: String
        var purchases: Int
        var payloads: Int
        var grants: Int
        /// Of the erasure or detachment before.
        var certificateId: String?

        init(_ preview: ErasureStore.Preview, _ extent: ErasureStore.Extent, _ options: CustomerOptions) {
            self.extent = extent.rawValue
            app = options.app
            environment = options.environment.rawValue
            customerId = preview.customer
            appAccountToken = preview.account.uuidString.lowercased()
            purchases = preview.purchases
            payloads = extent == .erase ? preview.payloads : 0
            grants = preview.grants
            certificateId = preview.certificate?.uuidString.lowercased()
        }
    }

    struct Page: Encodable {
        var certificateId: String
        var extent: String
        var app: String
        var environment: String
        var erasedAt: Date
        var topicsUntil: Date
        var purchases: Int
        var payloads: Int

        init(_ certificate: ErasureStore.Certificate) {
            certificateId = certificate.id.uuidString.lowercased()
            extent = certificate.extent.rawValue
            app = certificate.bundleId
            environment = certificate.environment.rawValue
            erasedAt = certificate.erasedAt
            topicsUntil = certificate.topicsUntil
            purchases = certificate.purchases
            payloads = certificate.payloads
        }
    }
}
