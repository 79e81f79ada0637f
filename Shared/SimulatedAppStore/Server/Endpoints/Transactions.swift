import Foundation
import ServerAPI

extension StoreAPI {
    /// Get Transaction Info.
    func transactionInfo(_ call: APICall) throws -> APIAnswer {
        let (subscriber, transaction) = try transaction(in: call)
        return try APIAnswer { $0.member("signedTransactionInfo", jws: try sign(transaction.purchase, of: subscriber)) }
    }

    /// Get App Transaction Info.
    func appTransactionInfo(_ call: APICall) throws -> APIAnswer {
        let subscriber = try subscriber(in: call)
        let signed = try signer.sign(PayloadBuilder.appTransaction(of: subscriber.newest))
        return APIAnswer { $0.member("signedAppTransactionInfo", jws: signed) }
    }

    /// Finish Transaction.
    func finishTransaction(_ call: APICall) throws -> APIAnswer {
        let (subscriber, transaction) = try transaction(in: call)
        historyStore.withHistory(of: call.app) { appHistory in
            appHistory.change(subscriber.originalTransactionId) { subscriber in
                guard
                    let place = subscriber.transactions.firstIndex(where: {
                        $0.purchase.transactionId == transaction.purchase.transactionId
                    })
                else { return }
                subscriber.transactions[place].isFinished = true
            }
        }
        return APIAnswer(status: 200)
    }

    /// Look Up Order ID: an unknown number is an answer, not an error. Apple has this endpoint in production only.
    func lookUpOrder(_ call: APICall) throws -> APIAnswer {
        guard call.app.environment == .production else { return .notFound }
        let transactionId = OrderNumber(call.id)?.transactionId
        guard let transactionId, let subscriber = subscriber(ofTransaction: transactionId, in: call.app),
            let transaction = subscriber.transaction(transactionId)
        else {
            return APIAnswer { $0.member("status", 1) }
        }
        let signed = try sign(transaction.purchase, of: subscriber)
        return APIAnswer {
            $0.member("status", 0)
            $0.beginArray("signedTransactions")
            $0.element(jws: signed)
            $0.endArray()
        }
    }

    // MARK: Shared by other endpoints

    func subscriber(ofTransaction id: String, in app: App) -> Subscriber? {
        historyStore.withHistory(of: app) { $0.subscriber(ofTransaction: id) }
    }

    /// The purchase that the path names.
    func subscriber(in call: APICall) throws -> Subscriber {
        guard let subscriber = subscriber(ofTransaction: try call.transactionId(), in: call.app) else {
            throw APIFault(4_040_010)
        }
        return subscriber
    }

    /// All purchases of the Apple account that the path names, in the order of their ids.
    func subscribers(in call: APICall) throws -> [Subscriber] {
        let subscriber = try subscriber(in: call)
        return historyStore.withHistory(of: call.app) { $0.subscribers(sharingAccountWith: subscriber) }
    }

    private func transaction(in call: APICall) throws -> (Subscriber, Subscriber.Transaction) {
        let subscriber = try subscriber(in: call)
        guard let transaction = subscriber.transaction(call.id) else { throw APIFault(4_040_010) }
        return (subscriber, transaction)
    }

    func sign(_ purchase: Purchase, of subscriber: Subscriber) throws -> [UInt8] {
        try signer.sign(PayloadBuilder.transaction(purchase, in: subscriber.newest))
    }
}

extension Subscriber {
    var originalTransactionId: String { newest.purchase?.originalTransactionId ?? "" }

    func transaction(_ id: String) -> Transaction? { transactions.first { $0.purchase.transactionId == id } }
}

/// The order number in the customer's receipt, derived from the transaction id: base 36 after an M.
struct OrderNumber: Sendable, Equatable {
    var transactionId: String

    init(transactionId: String) { self.transactionId = transactionId }

    /// Nil for what ``text`` never produced.
    init?(_ text: String) {
        guard text.first == "M", let number = UInt64(text.dropFirst(), radix: 36) else { return nil }
        transactionId = String(number)
        guard self.text == text else { return nil }
    }

    var text: String { "M" + String(UInt64(transactionId) ?? 0, radix: 36, uppercase: true) }
}
