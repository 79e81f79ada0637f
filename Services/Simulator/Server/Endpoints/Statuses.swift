import AppStore
import StrictJSON

extension StoreAPI {
    /// Get All Subscription Statuses. Everybody here has one subscription at most.
    func subscriptionStatuses(_ call: APICall) throws -> APIAnswer {
        let wanted = try call.request.parameters("status").map { text in
            guard let status = Int(text), (1...5).contains(status) else { throw APIFault(4_000_031) }
            return status
        }
        let subscriber = try subscriber(in: call)
        return try APIAnswer { json in
            json.member("environment", call.app.environment.rawValue)
            json.member("bundleId", call.app.bundleId)
            if call.app.environment == .production { json.member("appAppleId", call.app.appAppleId) }
            json.beginArray("data")
            if let status = subscriber.newest.status, wanted.isEmpty || wanted.contains(status) {
                json.element(raw: try group(of: subscriber, status: status))
            }
            json.endArray()
        }
    }

    private func group(of subscriber: Subscriber, status: Int) throws -> [UInt8] {
        let newest = subscriber.newest
        var json = JSONWriter(capacity: 16_384)
        json.beginObject()
        json.member("originalTransactionId", subscriber.originalTransactionId)
        json.member("status", status)
        if let purchase = newest.purchase {
            json.member("signedTransactionInfo", jws: try sign(purchase, of: subscriber))
            if let renewal = newest.renewal {
                let signed = try signer.sign(PayloadBuilder.renewal(renewal, of: purchase, in: newest))
                json.member("signedRenewalInfo", jws: signed)
            }
        }
        json.endObject()
        return APIAnswer {
            $0.member("subscriptionGroupIdentifier", PayloadBuilder.subscriptionGroup)
            $0.beginArray("lastTransactions")
            $0.element(raw: json.bytes)
            $0.endArray()
        }.body
    }
}
