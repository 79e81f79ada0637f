import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper entitlements`: what an account of an app may use, as the API answers it.
struct EntitlementsCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "entitlements", abstract: "Show what an account may use, and why.",
        discussion: """
            The same answer as GET /v1/accounts/ACCOUNT/entitlements. Its section withheld lists purchases of the account that give it \
            nothing at the moment. Exit codes: 0 the account may use something; 1 nothing.

            Examples:
              storekeeper entitlements --environment Production 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b
              storekeeper entitlements --environment Sandbox --at 2026-01-31 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Environment of the App Store.")
    var environment: StoreEnvironment

    @Option(help: "Bundle id of the app (default: all).")
    var app: String?

    @Option(help: "Moment: \(TimeArgument.help) (default: now).")
    var at: TimeArgument?

    @Argument(help: "appAccountToken of the account.", transform: Self.token)
    var account: UUID

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "entitlements", in: context)
        let moment = at?.date(now: context.now()) ?? context.now()
        let view = try await AccountView(
            of: account, in: environment, of: app, at: moment, on: connection)
        let access = view.access
        let rows =
            access.entitlements.map { Row($0) }
            + access.withheld.map { Row(withheld: $0, view.reason(withheld: $0).name, product: view.products[$0.id]) }
        try output.list(
            rows, none: "No purchase and no grant names \(account.uuidString.lowercased()) in \(environment.rawValue).",
            in: context)
        if access.entitlements.isEmpty { throw ExitCode(1) }
    }

    private static func token(_ text: String) throws -> UUID {
        guard let token = UUID(uuidString: text) else { throw ValidationError("\(text.escaped) is not a UUID") }
        return token
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["access", "name", "app", "product", "until", "reason", "purchase"]

        var givesAccess: Bool
        /// What the app calls it.
        var name: String?
        var bundleId: String
        var productId: String?
        var until: Date?
        /// Whether no other active subscription of its group has a higher level; nil where it is no subscription.
        var isHighestLevel: Bool?
        var reason: String
        /// Of the purchase, or the id of the grant.
        var id: String

        init(_ entitlement: AccountAccess.Entitlement) {
            let line = entitlement.line
            givesAccess = true
            name = entitlement.name
            bundleId = line.bundleId
            productId = line.productId
            until = line.until
            isHighestLevel = entitlement.isHighestLevel
            reason = line.reason ?? ""
            id = line.id
        }

        init(withheld line: EntitlementStore.Line, _ reason: String, product: String?) {
            givesAccess = false
            bundleId = line.bundleId
            productId = product
            self.reason = reason
            id = line.id
        }

        var cells: [String] {
            [
                givesAccess ? "yes" : "no", name ?? "", bundleId, productId ?? "",
                givesAccess ? until?.text ?? "open" : "", reason,
                id,
            ]
        }
    }
}
