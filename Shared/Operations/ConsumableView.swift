import Contracts
import Postgres
import Storage
import Subscriptions

/// What consumables gave: how many were bought, what was credited for them, and what the accounts have. In words that name no id, because
/// roles that see none read them, too.
package struct ConsumableView: Sendable {
    /// One for each transaction of a consumable.
    package let credits: [String]
    /// One for each unit of each account that got credits of them.
    package let balances: [String]

    /// - Parameter transactions: of any kind; without a consumable nothing is read.
    package init(
        _ transactions: [TransactionFacts], in environment: StoreEnvironment, on connection: PostgresConnection
    ) async throws {
        let bought = transactions.filter { $0.productType == "Consumable" }
        guard !bought.isEmpty else {
            (credits, balances) = ([], [])
            return
        }
        let store = CreditStore(connection)
        let credited = try await store.credits(of: bought.map(\.transactionId), in: environment)
        credits = bought.map { facts in
            facts.words(of: credited.first { $0.transactionId == facts.transactionId })
        }
        var balances: [String] = []
        for account in Set(credited.compactMap(\.account)).sorted(by: { $0.uuidString < $1.uuidString }) {
            let own = credited.filter { $0.account == account }
            let apps = Set(own.map(\.bundleId)).sorted()
            balances += try await store.balances(of: account, in: environment, bundleIds: apps)
                .filter { balance in own.contains { $0.unit == balance.unit && $0.bundleId == balance.bundleId } }
                .map(\.words)
        }
        self.balances = balances
    }
}

extension TransactionFacts {
    /// Such as `3 × coins.small; 300 coins credited 2026-01-31T10:00:00Z; the refund took 100 back`.
    fileprivate func words(of credit: CreditStore.Credit?) -> String {
        let bought = "\(max(quantity ?? 1, 1)) × \(productId)"
        guard let credit else {
            return revocationDate == nil
                ? "\(bought); nothing is credited yet: the app's backend has not asked for it"
                : "\(bought); refunded, and nothing was credited"
        }
        let taken = credit.takenBack > 0 ? "; the refund took \(credit.takenBack.grouped) back" : ""
        return "\(bought); \(credit.amount.grouped) \(credit.unit) credited \(credit.creditedAt.text)\(taken)"
    }
}

extension CreditStore.Balance {
    /// Such as `400 coins: 500 credited, 100 taken back by refunds; what was spent is the app's own`.
    fileprivate var words: String {
        let taken = takenBack > 0 ? ", \(takenBack.grouped) taken back by refunds" : ""
        return "\(balance.grouped) \(unit): \(credited.grouped) credited\(taken); the app itself knows what was spent"
    }
}
