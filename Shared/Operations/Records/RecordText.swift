import Contracts
import Records
import StrictJSON

extension VerifiedNotification {
    /// The record's value as JSON, with the names of the fields and the signed payload as text.
    package var json: [UInt8] {
        get throws {
            var json = JSONWriter(capacity: decoded.count + 8192)
            json.beginObject()
            json.member("notificationUUID", notificationUUID.uuidString.lowercased())
            json.member("notificationType", notificationType)
            json.member("subtype", subtype)
            json.member("environment", environment.rawValue)
            json.member("bundleId", bundleId)
            json.member("appAppleId", appAppleId)
            json.member("originalTransactionId", originalTransactionId)
            json.member("transactionId", transactionId)
            json.member("signedDate", signedDate?.milliseconds)
            json.member("receivedAt", receivedAt.milliseconds)
            json.member("source", source.rawValue)
            json.member("decoded", raw: decoded)
            json.member("signedPayload", String(decoding: try signedPayload, as: UTF8.self))
            json.endObject()
            return json.bytes
        }
    }
}
