import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper customers grant`: gives access by hand.
struct GrantCustomer: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "grant", abstract: "Give a customer access by hand.",
        discussion: """
            Effective at once; in the entitlements its reason is manualGrant.

            Example: storekeeper customers grant user-4711 pro.monthly --app com.example.app --environment Production \
            --days 14 --reason "ticket 812"
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Product id.")
    var product: String

    @Option(help: "Reason, shown to support; at most 500 characters.")
    var reason: String

    @Option(help: "Days until it ends (default: until it is revoked).")
    var days: Int?

    func validate() throws {
        try AuditOptions.check(reason, "--reason", 500)
        if let days, !(1...36_500).contains(days) {
            throw ValidationError("--days \(days) is out of range: 1 to 36500")
        }
        guard !product.isEmpty, product.utf8.count <= 255 else {
            throw ValidationError("the product id must have 1 to 255 bytes")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let records = CustomerRecords(connection)
        let (customer, now) = (try await options.found(records), context.now())
        let grant = CustomerRecords.ManualGrant(
            id: context.id(), environment: customer.environment, bundleId: customer.bundleId,
            appAccountToken: customer.appAccountToken, productId: product, reason: reason, startsAt: now,
            endsAt: days.map { now.addingTimeInterval(Double($0) * 86_400) }, createdAt: now,
            createdBy: CustomerRecords.ManualGrant.byOperator)
        try await records.add(grant)
        try await audit.record(
            "customers grant", on: ["\(options.subject) \(product), grant \(grant.id.uuidString.lowercased())"],
            about: OperatorAction.About(customer), to: OperatorActionStore(connection), in: context)
        try options.output.list([GrantRow(grant)], none: "", in: context)
    }
}

/// `storekeeper customers revoke`: ends a grant.
struct RevokeGrant: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "End access that was given by hand.",
        discussion: """
            Example: storekeeper customers revoke user-4711 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --app com.example.app \
            --environment Production
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Id of the grant, as storekeeper customers show lists it.")
    var grant: String

    func validate() throws {
        guard UUID(uuidString: grant) != nil else { throw ValidationError("\(grant.escaped) is not the id of a grant") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let records = CustomerRecords(connection)
        let customer = try await options.found(records)
        guard let id = UUID(uuidString: grant),
            try await records.revoke(
                grant: id, of: customer.appAccountToken, of: customer.bundleId, in: customer.environment,
                at: context.now())
        else { throw CommandError("the customer has no grant \(grant.escaped): see storekeeper customers show") }
        try await audit.record(
            "customers revoke", on: ["\(options.subject), grant \(id.uuidString.lowercased())"],
            about: OperatorAction.About(customer), to: OperatorActionStore(connection), in: context)
        let grants = try await records.grants(
            of: customer.appAccountToken, of: customer.bundleId, in: customer.environment)
        try options.output.list(grants.filter { $0.id == id }.map(GrantRow.init), none: "", in: context)
    }
}

/// A grant as lists show it.
struct GrantRow: ListedRow {
    static let columns: [TextTable.Column] = ["grant", "product", "starts", "ends", "revoked", "reason"]

    var grantId: String
    var productId: String
    var reason: String
    var startsAt: Date
    var endsAt: Date?
    var revokedAt: Date?

    init(_ grant: CustomerRecords.ManualGrant) {
        grantId = grant.id.uuidString.lowercased()
        productId = grant.productId
        reason = grant.reason
        startsAt = grant.startsAt
        endsAt = grant.endsAt
        revokedAt = grant.revokedAt
    }

    var cells: [String] {
        [grantId, productId, startsAt.text, endsAt?.text ?? "open", revokedAt?.text ?? "no", reason]
    }
}
