import Foundation
import StrictJSON

extension RunRecord.Line {
    private enum Kind: String { case notification, attempt, upload, refundAnswer }
    private enum CodingKeys: CodingKey { case line }

    private struct Untagged: Decodable {
        var line: RunRecord.Line?

        init(from decoder: any Decoder) throws {
            let kind = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .line)
            switch Kind(rawValue: kind) {
            case .notification: line = .notification(try RunRecord.Notification(from: decoder))
            case .attempt: line = .attempt(try RunRecord.Attempt(from: decoder))
            case .upload: line = .upload(try RunRecord.Upload(from: decoder))
            case .refundAnswer: line = .refundAnswer(try RunRecord.RefundAnswer(from: decoder))
            case nil: line = nil
            }
        }
    }

    /// Reads one line, without its line feed; nil if its kind is unknown.
    public init?(decoding bytes: [UInt8]) throws {
        guard let line = try JSONDecoder().decode(Untagged.self, from: Data(bytes)).line else { return nil }
        self = line
    }

    /// The line as it stands in the file, with its line feed. Written by hand: two lines go with every notification, and
    /// an encoder takes ten times as long for one.
    public var encoded: [UInt8] {
        var json = JSONWriter(capacity: 640)
        json.beginObject()
        switch self {
        case .notification(let content):
            json.member("line", Kind.notification.rawValue)
            content.write(to: &json)
        case .attempt(let content):
            json.member("line", Kind.attempt.rawValue)
            content.write(to: &json)
        case .upload(let content):
            json.member("line", Kind.upload.rawValue)
            content.write(to: &json)
        case .refundAnswer(let content):
            json.member("line", Kind.refundAnswer.rawValue)
            content.write(to: &json)
        }
        json.endObject()
        return json.bytes + [UInt8(ascii: "\n")]
    }
}

extension RunRecord.Notification {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("uuid", uuid)
        json.member("notificationType", notificationType)
        json.said("subtype", subtype)
        json.member("environment", environment.rawValue)
        json.member("bundleId", bundleId)
        json.said("originalTransactionId", originalTransactionId)
        json.said("transactionId", transactionId)
        json.member("signedDate", signedDate)
        json.said("expectedRejection", expectedRejection)
        json.said("productType", productType)
        json.said("payloadDigest", payloadDigest)
        if let access { write(access, to: &json) }
        guard let facts else { return }
        json.beginObject("facts")
        json.said("status", facts.status.map(Int64.init))
        json.member("productId", facts.productId)
        json.member("purchaseDate", facts.purchaseDate)
        json.said("expiresDate", facts.expiresDate)
        json.said("revocationDate", facts.revocationDate)
        json.said("revocationReason", facts.revocationReason.map(Int64.init))
        json.said("appAccountToken", facts.appAccountToken)
        json.said("autoRenewStatus", facts.autoRenewStatus.map(Int64.init))
        json.said("autoRenewProductId", facts.autoRenewProductId)
        if let retry = facts.isInBillingRetryPeriod { json.member("isInBillingRetryPeriod", retry) }
        json.said("gracePeriodExpiresDate", facts.gracePeriodExpiresDate)
        json.said("expirationIntent", facts.expirationIntent.map(Int64.init))
        json.endObject()
    }
}

extension RunRecord.Notification {
    private func write(_ access: [RunRecord.AccessPeriod], to json: inout JSONWriter) {
        json.beginArray("access")
        for period in access {
            json.beginObject()
            json.member("productId", period.productId)
            json.member("startsAt", period.startsAt)
            json.said("endsAt", period.endsAt)
            json.member("isGrace", period.isGrace)
            json.endObject()
        }
        json.endArray()
    }
}

extension RunRecord.Attempt {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("uuid", uuid)
        json.member("attempt", attempt)
        json.member("at", at)
        json.said("status", status.map(Int64.init))
        json.said("failure", failure)
        json.member("isRepetition", isRepetition)
    }
}

extension RunRecord.Upload {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("uuid", uuid)
        json.member("moment", moment)
        json.member("transactionId", transactionId)
        json.member("at", at)
        json.said("status", status.map(Int64.init))
        json.said("failure", failure)
    }
}

extension RunRecord.RefundAnswer {
    fileprivate func write(to json: inout JSONWriter) {
        json.member("environment", environment.rawValue)
        json.member("bundleId", bundleId)
        json.member("transactionId", transactionId)
        json.member("at", at)
        json.member("version", version)
        json.member("body", body)
    }
}

extension JSONWriter {
    /// What is nil is left out.
    fileprivate mutating func said(_ key: String, _ value: String?) {
        if let value { member(key, value) }
    }

    fileprivate mutating func said(_ key: String, _ value: Int64?) {
        if let value { member(key, value) }
    }
}
