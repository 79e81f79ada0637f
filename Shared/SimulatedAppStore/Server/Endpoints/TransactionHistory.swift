import Foundation
import StrictJSON

extension StoreAPI {
    /// Get Transaction History, by modified date: a changed transaction appears again at the end.
    func transactionHistory(_ call: APICall) throws -> APIAnswer {
        let filter = try TransactionFilter(call)
        let omitsFinished = call.endpoint == .transactionHistoryWithoutFinishedConsumables
        let wanted = try customersTransactions(in: call) { subscriber, transaction in
            let isConsumed = transaction.isFinished && transaction.purchase.product.kind == .consumable
            return filter.matches(transaction.purchase, of: subscriber.newest.customer, in: call.app.bundleId)
                && !(omitsFinished && isConsumed)
        }
        let page = try TransactionPage(
            of: wanted, after: call.request.parameter("revision"), question: filter.fingerprint,
            isDescending: filter.isDescending, now: call.now)
        return try APIAnswer { json in
            try json.members(of: page) { try sign($0.transaction.purchase, of: $0.subscriber) }
            json.member("bundleId", call.app.bundleId)
            if call.app.environment == .production { json.member("appAppleId", call.app.appAppleId) }
            json.member("environment", call.app.environment.rawValue)
        }
    }

    /// Get Refund History: transactions that are revoked now.
    func refundHistory(_ call: APICall) throws -> APIAnswer {
        let page = try TransactionPage(
            of: try customersTransactions(in: call) { $1.purchase.revocation != nil },
            after: call.request.parameter("revision"),
            question: PageToken.question([call.app.bundleId, call.app.environment.rawValue, "refunds", call.id]),
            isDescending: false, now: call.now)
        return try APIAnswer { json in
            try json.members(of: page) { try sign($0.transaction.purchase, of: $0.subscriber) }
        }
    }

    /// All purchases of the Apple account that one of its transactions names.
    private func customersTransactions(
        in call: APICall, where isWanted: (Subscriber, Subscriber.Transaction) -> Bool
    ) throws -> [TransactionPage.Entry] {
        try subscribers(in: call).flatMap { subscriber in
            subscriber.transactions.filter { isWanted(subscriber, $0) }
                .map { TransactionPage.Entry(subscriber: subscriber, transaction: $0) }
        }
    }
}

/// Up to twenty transactions by revision, and the next position.
struct TransactionPage: Sendable {
    struct Entry: Sendable {
        var subscriber: Subscriber
        var transaction: Subscriber.Transaction

        var revision: Int64 { transaction.revision }
    }

    var transactions: [Entry]
    var hasMore: Bool
    var revision: String

    /// - Parameter text: the revision of the page before; nil for the first.
    /// - Throws: ``APIFault`` where the revision belongs to another request.
    init(
        of all: [Entry], after text: String?, question: UInt64, isDescending: Bool, now: Date
    ) throws {
        let pageToken = try text.map {
            guard let pageToken = PageToken($0), pageToken.question == question else { throw APIFault(4_000_005) }
            return pageToken
        }
        let newest = all.map(\.revision).max() ?? 0
        let seen = pageToken?.position ?? (isDescending ? .max : 0)
        // Descending, a change during the read is newer than its beginning and appears in the next read.
        let rest = all.filter { isDescending ? $0.revision < seen : $0.revision > seen }
            .sorted { isDescending ? $0.revision > $1.revision : $0.revision < $1.revision }
        transactions = Array(rest.prefix(StoreAPI.pageSize))
        hasMore = rest.count > transactions.count
        revision =
            PageToken(
                position: transactions.last?.revision ?? (pageToken?.position ?? newest), limit: 0, issuedAt: now,
                question: question
            ).text
    }
}

extension JSONWriter {
    fileprivate mutating func members(
        of page: TransactionPage, signing sign: (TransactionPage.Entry) throws -> [UInt8]
    ) throws {
        beginArray("signedTransactions")
        for transaction in page.transactions { element(jws: try sign(transaction)) }
        endArray()
        member("revision", page.revision)
        member("hasMore", page.hasMore)
    }
}
