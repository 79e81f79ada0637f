import ArgumentParser
import Commands
import Foundation
import Storage

/// `storekeeper customers apps`: when a customer first got the app.
struct CustomerApps: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "apps", abstract: "Show when a customer first got the app.",
        discussion: """
            From app transactions that were uploaded for the account: the version and the day of the first purchase of the app, and the \
            day of a pre-order.

            Example: storekeeper customers apps user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var options: CustomerOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let account = try await options.account(CustomerRecords(connection))
        let purchases = try await AccountAppStore(connection).firstPurchases(
            of: account, in: options.environment, of: options.app)
        try options.output.list(
            purchases.map { Row($0) }, none: "No app transaction of this account was uploaded.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["app", "first version", "first purchase", "pre-order", "access"]

        var bundleId: String
        var originalApplicationVersion: String
        var originalPurchaseDate: Date?
        var preorderDate: Date?
        var isEntitled: Bool

        init(_ purchase: AccountAppStore.FirstPurchase) {
            bundleId = purchase.bundleId
            originalApplicationVersion = purchase.originalApplicationVersion
            originalPurchaseDate = purchase.originalPurchaseDate
            preorderDate = purchase.preorderDate
            isEntitled = purchase.isEntitled
        }

        var cells: [String] {
            [
                bundleId, originalApplicationVersion, originalPurchaseDate?.text ?? "-", preorderDate?.text ?? "-",
                isEntitled ? "yes" : "no",
            ]
        }
    }
}
