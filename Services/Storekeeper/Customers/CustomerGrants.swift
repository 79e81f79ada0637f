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
            Effective at once; in the entitlements its reason is manualGrant. An entitlement or product that this \
            installation does not know needs a confirmation.

            Example: storekeeper customers grant user-4711 pro.monthly --app com.example.app --environment Production \
            --days 14 --reason "ticket 812"
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Entitlement or product id.")
    var product: String

    @Option(help: "Reason, shown to support; at most \(Performer.longestReason) characters.")
    var reason: String

    @Option(help: "Days until it ends, 1 to \(GrantAccess.days.upperBound) (default: until it is revoked).")
    var days: Int?

    @Flag(help: "Grant it although no such entitlement or product is known.")
    var confirmUnknown = false

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func validate() throws {
        try asUsage {
            // Of no account: only the limits are checked.
            let now = Date(timeIntervalSince1970: 0)
            _ = try GrantAccess(
                CustomerRecords.ManualGrant(
                    id: UUID(), environment: options.environment, bundleId: options.app, appAccountToken: UUID(),
                    productId: product, reason: reason, startsAt: now,
                    endsAt: try GrantAccess.end(after: days, from: now), createdAt: now,
                    createdBy: CustomerRecords.ManualGrant.byOperator))
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let account = try await options.account(CustomerRecords(connection))
        let performer = try audit.performer(in: context)
        let grant = CustomerRecords.ManualGrant(
            id: context.id(), environment: options.environment, bundleId: options.app, appAccountToken: account,
            productId: product, reason: reason, startsAt: performer.now,
            endsAt: try GrantAccess.end(after: days, from: performer.now), createdAt: performer.now,
            createdBy: CustomerRecords.ManualGrant.byOperator)
        let plan = try await GrantAccess(grant).plan(on: connection)
        guard !dryRun else { return try plan.show(options.output, in: context) }
        var isConfirmed = confirmUnknown
        if let doubt = plan.doubt, !isConfirmed {
            guard let confirm = context.confirm else {
                throw CommandError("\(doubt) Add --confirm-unknown to grant it all the same", .unconfirmed)
            }
            isConfirmed = await confirm("\(doubt) Grant it all the same?")
        }
        try await GrantAccess(grant, confirmsUnknown: isConfirmed).perform(on: connection, by: performer)
        try options.output.list([GrantRow(grant)], none: "", in: context)
    }
}

/// `storekeeper customers revoke`: ends a grant.
struct RevokeCustomerGrant: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke", abstract: "End access that was given by hand.",
        discussion: """
            A grant that is over stays as it is.

            Example: storekeeper customers revoke user-4711 0f1e2d3c-4b5a-4978-8796-a5b4c3d2e1f0 --app com.example.app \
            --environment Production
            """)

    @OptionGroup var options: CustomerOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Id of the grant, as storekeeper customers show lists it.")
    var grant: String

    @Flag(help: "Print what would happen; change nothing.")
    var dryRun = false

    func validate() throws {
        guard UUID(uuidString: grant) != nil else { throw ValidationError("\(grant.escaped) is not the id of a grant") }
    }

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let records = CustomerRecords(connection)
        let (account, id) = (try await options.account(records), UUID(uuidString: grant) ?? UUID())
        let operation = RevokeGrant(id, of: account, of: options.app, in: options.environment)
        let performer = try audit.performer(in: context)
        guard !dryRun else {
            return try await operation.plan(on: connection, at: performer.now).show(options.output, in: context)
        }
        try await operation.perform(on: connection, by: performer)
        let grants = try await records.grants(of: account, of: options.app, in: options.environment)
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
