import ServerAPI
import StrictJSON

extension StoreAPI {
    /// Get All Subscription Statuses: of the Apple account that a transaction names, by subscription group.
    func subscriptionStatuses(_ call: APICall) throws -> APIAnswer {
        let wanted = try call.request.parameters("status").map { text in
            guard let status = Int(text), (1...5).contains(status) else { throw APIFault(4_000_031) }
            return status
        }
        let subscriptions = try subscribers(in: call).filter { subscriber in
            subscriber.newest.status.map { wanted.isEmpty || wanted.contains($0) } ?? false
        }
        let groups = Dictionary(grouping: subscriptions) { $0.current.purchase?.product.group ?? "" }
        return try APIAnswer { json in
            json.member("environment", call.app.environment.rawValue)
            json.member("bundleId", call.app.bundleId)
            if call.app.environment == .production { json.member("appAppleId", call.app.appAppleId) }
            json.beginArray("data")
            for (group, subscriptions) in groups.sorted(by: { $0.key < $1.key }) {
                let transactions = try subscriptions.map(lastTransaction)
                let answer = APIAnswer {
                    $0.member("subscriptionGroupIdentifier", group)
                    $0.beginArray("lastTransactions")
                    for transaction in transactions { $0.element(raw: transaction) }
                    $0.endArray()
                }
                json.element(raw: answer.body)
            }
            json.endArray()
        }
    }

    private func lastTransaction(of subscriber: Subscriber) throws -> [UInt8] {
        let newest = subscriber.current
        var json = JSONWriter(capacity: 16_384)
        json.beginObject()
        json.member("originalTransactionId", subscriber.originalTransactionId)
        if let status = newest.status { json.member("status", status) }
        if let purchase = newest.purchase {
            json.member("signedTransactionInfo", jws: try sign(purchase, of: subscriber))
            if let renewal = newest.renewal {
                let signed = try signer.sign(PayloadBuilder.renewal(renewal, of: purchase, in: newest))
                json.member("signedRenewalInfo", jws: signed)
            }
        }
        json.endObject()
        return json.bytes
    }
}
