import AppStore
import Contracts
import Interpretation
import Postgres
import Storage
import Subscriptions

/// What is believed of customers' purchases, to be held against what Apple's API tells of them.
///
/// Apple signs a transaction anew whenever it is asked. One that tells nothing new is not put on the line: the ledger would
/// grow with every question, and Apple's status, which comes with notifications only, would lose its transaction.
struct Knowledge: Sendable {
    let transactions: TransactionStore
    let subscriptions: SubscriptionStore

    init(_ connection: PostgresConnection) {
        transactions = TransactionStore(connection)
        subscriptions = SubscriptionStore(connection)
    }

    /// The transactions that tell something new, and those that cannot be read here: the line decides about them, and what
    /// it refuses is among the dead letters.
    func news(
        in items: [SignedItem<JWSTransactionDecodedPayload>], _ environment: StoreEnvironment
    ) async throws -> [[UInt8]] {
        var known: [String: [String: TransactionFacts]] = [:]
        var news: [[UInt8]] = []
        for item in items {
            guard let transaction = item.value, let purchase = transaction.originalTransactionId,
                let signedDate = transaction.signedDate,
                let facts = TransactionFacts(transaction, signedDate: signedDate)
            else {
                news.append(item.jws)
                continue
            }
            if known[purchase] == nil {
                let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
                let facts = try await transactions.transactions(of: key)
                known[purchase] = Dictionary(facts.map { ($0.transactionId, $0) }, uniquingKeysWith: { $1 })
            }
            guard !facts.isSaid(by: known[purchase]?[facts.transactionId]) else { continue }
            known[purchase, default: [:]][facts.transactionId] = facts
            news.append(item.jws)
        }
        return news
    }

    /// The same of renewal information.
    func news(
        in items: [SignedItem<JWSRenewalInfoDecodedPayload>], _ environment: StoreEnvironment
    ) async throws -> [[UInt8]] {
        var news: [[UInt8]] = []
        for item in items {
            guard let renewal = item.value, let purchase = renewal.originalTransactionId,
                let signedDate = renewal.signedDate
            else {
                news.append(item.jws)
                continue
            }
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            let known = try await subscriptions.find(key)?.renewal
            if !RenewalFacts(renewal, signedDate: signedDate).isSaid(by: known) { news.append(item.jws) }
        }
        return news
    }
}

extension TransactionFacts {
    /// Whether a version tells all that this one does; it does not where it is the newer one.
    fileprivate func isSaid(by known: TransactionFacts?) -> Bool {
        guard var known else { return false }
        if known.signedDate > signedDate { return true }
        known.signedDate = signedDate
        return known == self
    }
}

extension RenewalFacts {
    /// Whether what is known tells all that this does.
    fileprivate func isSaid(by known: RenewalFacts?) -> Bool {
        guard var known else { return false }
        if known.signedDate > signedDate { return true }
        known.signedDate = signedDate
        return known == self
    }
}
