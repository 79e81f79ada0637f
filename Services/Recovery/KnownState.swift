import AppStore
import Contracts
import Interpretation
import Postgres
import Storage
import Subscriptions

/// The known state of customers' purchases, for comparison with Apple's API.
///
/// Apple signs a transaction again for every request. Objects without new facts are not published: the ledger would
/// grow with every request, and Apple's status, which only notifications contain, would lose its transaction.
struct KnownState: Sendable {
    let transactions: TransactionStore
    let subscriptions: SubscriptionStore

    init(_ connection: PostgresConnection) {
        transactions = TransactionStore(connection)
        subscriptions = SubscriptionStore(connection)
    }

    /// The transactions with new facts, and unreadable ones, which the pipeline rejects as dead letters.
    func unknownObjects(
        in items: [SignedItem<JWSTransactionDecodedPayload>], _ environment: StoreEnvironment
    ) async throws -> [[UInt8]] {
        var known: [String: [String: TransactionFacts]] = [:]
        var unknownObjects: [[UInt8]] = []
        for item in items {
            guard let transaction = item.value, let purchase = transaction.originalTransactionId,
                let signedDate = transaction.signedDate,
                let facts = TransactionFacts(transaction, signedDate: signedDate)
            else {
                unknownObjects.append(item.jws)
                continue
            }
            if known[purchase] == nil {
                let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
                let facts = try await transactions.transactions(of: key)
                known[purchase] = Dictionary(facts.map { ($0.transactionId, $0) }, uniquingKeysWith: { $1 })
            }
            guard !facts.isCovered(by: known[purchase]?[facts.transactionId]) else { continue }
            known[purchase, default: [:]][facts.transactionId] = facts
            unknownObjects.append(item.jws)
        }
        return unknownObjects
    }

    /// The renewal infos with new facts.
    func unknownObjects(
        in items: [SignedItem<JWSRenewalInfoDecodedPayload>], _ environment: StoreEnvironment
    ) async throws -> [[UInt8]] {
        var unknownObjects: [[UInt8]] = []
        for item in items {
            guard let renewal = item.value, let purchase = renewal.originalTransactionId,
                let signedDate = renewal.signedDate
            else {
                unknownObjects.append(item.jws)
                continue
            }
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            let known = try await subscriptions.find(key)?.renewal
            if !RenewalFacts(renewal, signedDate: signedDate).isCovered(by: known) { unknownObjects.append(item.jws) }
        }
        return unknownObjects
    }
}

extension TransactionFacts {
    /// Whether a known version contains all facts of this one; false for a newer one.
    fileprivate func isCovered(by known: TransactionFacts?) -> Bool {
        guard var known else { return false }
        if known.signedDate > signedDate { return true }
        known.signedDate = signedDate
        return known == self
    }
}

extension RenewalFacts {
    /// Whether the known renewal info contains all facts of this one.
    fileprivate func isCovered(by known: RenewalFacts?) -> Bool {
        guard var known else { return false }
        if known.signedDate > signedDate { return true }
        known.signedDate = signedDate
        return known == self
    }
}
