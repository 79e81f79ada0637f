import ArgumentParser
import Commands
import Contracts
import Foundation
import Storage
import Subscriptions

/// `storekeeper customers shared`: Apple accounts with several accounts of an app.
struct SharedAccounts: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "shared", abstract: "List shared Apple accounts.",
        discussion: "Example: storekeeper customers shared --app com.example.app --json")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @OptionGroup var limits: LimitOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "customers", in: context)
        let policies = try await SharingStore(connection).policies()
        var rows: [Row] = []
        for environment in environment.map({ [$0] }) ?? StoreEnvironment.allCases {
            let shared = try await CustomerStore(connection).sharedAccounts(
                of: app, in: environment, limit: limits.limit - rows.count)
            rows += Self.rows(of: shared, in: environment, under: policies)
        }
        let place = environment.map { " in \($0.rawValue)" } ?? ""
        try output.list(rows, none: "No Apple account is shared\(place).", in: context)
    }

    private static func rows(
        of shared: [CustomerStore.SharedAccount], in environment: StoreEnvironment,
        under policies: [CoverageStore.App: SharingPolicy]
    ) -> [Row] {
        shared.flatMap { customer in
            customer.accounts.map { account in
                Row(
                    app: customer.bundleId, environment: environment.rawValue, customer: customer.customer,
                    account: account.appAccountToken, claim: account.evidence.rawValue,
                    since: account.since,
                    policy: (policies[CoverageStore.App(environment, customer.bundleId)] ?? .standard).rawValue,
                    isEntitled: account.isEntitled)
            }
        }
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "app", "environment", "Apple account", "app's account", "claim", "since", "policy", "access",
        ]

        var app: String
        var environment: String
        var customer: String
        var account: String
        /// Its evidence.
        var claim: String
        var since: Date
        var policy: String
        var isEntitled: Bool

        var cells: [String] {
            [app, environment, customer, account, claim, since.text, policy, isEntitled ? "entitled" : "denied"]
        }
    }
}
