import AppStore
import Contracts
import Interpretation
import Postgres
import ServerAPI
import Storage
import Subscriptions

import struct Foundation.Date

/// The known state of customers' purchases, for comparison with Apple's API.
///
/// Apple signs a transaction again for every request. Objects without new facts are not published: the ledger would
/// grow with every request. Apple's status stays with the transaction that it is about.
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
    ) async throws -> [SignedObject] {
        var known: [String: [String: TransactionFacts]] = [:]
        var unknownObjects: [SignedObject] = []
        for item in items {
            guard let transaction = item.value, let purchase = transaction.purchaseId,
                let signedDate = transaction.signedDate,
                let facts = TransactionFacts(transaction, signedDate: signedDate)
            else {
                unknownObjects.append(SignedObject(jws: item.jws))
                continue
            }
            if known[purchase] == nil {
                let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
                let facts = try await transactions.transactions(of: key)
                known[purchase] = Dictionary(facts.map { ($0.transactionId, $0) }, uniquingKeysWith: { $1 })
            }
            guard !facts.isCovered(by: known[purchase]?[facts.transactionId]) else { continue }
            known[purchase, default: [:]][facts.transactionId] = facts
            unknownObjects.append(SignedObject(jws: item.jws, transactionId: facts.transactionId))
        }
        return unknownObjects
    }

    /// The objects of an answer about statuses. The transaction carries the status whenever anything about the subscription
    /// is new, so that no newer renewal info stands beside an older status.
    /// - Parameter askedAt: before the request.
    func unknownObjects(
        in items: [SubscriptionStatuses.Item], _ environment: StoreEnvironment, askedAt: Date
    ) async throws -> [SignedObject] {
        var all: [SignedObject] = []
        for item in items {
            var transactions = try await unknownObjects(in: [item.transaction].compactMap(\.self), environment)
            let renewals = try await unknownObjects(in: [item.renewalInfo].compactMap(\.self), environment)
            if let carrier = item.transaction, let transaction = carrier.value, let purchase = transaction.purchaseId,
                // One that this build does not know would never be the stored one, and decides nothing.
                let status = item.status.flatMap({ $0.isKnown ? $0.rawValue : nil })
            {
                let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
                let isKnown = try await subscriptions.find(key)?.status.map(Int64.init) == status
                if !isKnown || !transactions.isEmpty || !renewals.isEmpty {
                    let answered = AnsweredStatus(
                        status: status, askedAt: askedAt,
                        signedDates: [transaction.signedDate, item.renewalInfo?.value?.signedDate])
                    transactions = [
                        SignedObject(jws: carrier.jws, transactionId: transaction.transactionId, status: answered)
                    ]
                }
            }
            all += transactions + renewals
        }
        return all
    }

    /// The renewal infos with new facts.
    func unknownObjects(
        in items: [SignedItem<JWSRenewalInfoDecodedPayload>], _ environment: StoreEnvironment
    ) async throws -> [SignedObject] {
        var unknownObjects: [SignedObject] = []
        for item in items {
            guard let renewal = item.value, let purchase = renewal.originalTransactionId,
                let signedDate = renewal.signedDate
            else {
                unknownObjects.append(SignedObject(jws: item.jws))
                continue
            }
            let key = SubscriptionKey(environment: environment, originalTransactionId: purchase)
            let known = try await subscriptions.find(key)?.renewal
            if !RenewalFacts(renewal, signedDate: signedDate).isCovered(by: known) {
                unknownObjects.append(SignedObject(jws: item.jws))
            }
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
