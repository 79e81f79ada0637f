import ArgumentParser
import Commands
import Foundation
import Storage

/// `storekeeper customers balance`: what consumables gave to a customer.
struct CustomerBalance: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "balance", abstract: "Show what consumables gave to a customer, and what refunds took back.",
        discussion: """
            Of the transactions that a backend credited (POST /v1/transactions/{transactionId}/credit), by unit. What the customer \
            has spent is the app's own. storekeeper products credits sets what a product gives.

            Example: storekeeper customers balance user-4711 --app com.example.app --environment Production
            """)

    @OptionGroup var options: CustomerOptions

    func run(in context: CommandContext) async throws {
        let connection = try options.database.connection(for: "customers", in: context)
        let account = try await options.account(CustomerRecords(connection))
        let balances = try await CreditStore(connection).balances(
            of: account, in: options.environment, bundleIds: [options.app])
        try options.output.list(balances.map { Row($0) }, none: "Nothing was credited to this account.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "unit", .number("balance"), .number("credited"), .number("taken back"), .number("transactions"), "newest",
        ]

        var unit: String
        var balance: Int64
        var credited: Int64
        var takenBack: Int64
        var transactions: Int64
        var creditedAt: Date

        init(_ balance: CreditStore.Balance) {
            unit = balance.unit
            self.balance = balance.balance
            credited = balance.credited
            takenBack = balance.takenBack
            transactions = balance.credits
            creditedAt = balance.creditedAt
        }

        var cells: [String] {
            [unit, "\(balance)", "\(credited)", "\(takenBack)", "\(transactions)", creditedAt.text]
        }
    }
}
