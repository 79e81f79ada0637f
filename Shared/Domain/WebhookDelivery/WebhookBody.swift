import Contracts
import Records
import StrictJSON
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The bodies of webhooks: `{"type": …, "timestamp": …, "data": …}`.
package enum WebhookBody {
    /// The most bytes of a body: receivers limit what they read.
    package static let limit = 20_000

    /// `purchase.DID_RENEW`, `purchase.EXPIRED.VOLUNTARY`: Apple's type, and its subtype after another point.
    package static func type(of event: String) -> String {
        "purchase." + event.split(separator: "/").joined(separator: ".")
    }

    /// The body of a change: `data` is the message of the topic `subscriptions.changed`. Where that is too long, the values of its
    /// changes are cut, then the last changes are left out.
    package static func of(_ message: SubscriptionChanged) -> [UInt8] {
        let whole = body(type(of: message.event), message.occurredAt, message.record().value)
        guard whole.count > limit else { return whole }
        var short = message
        for length in [256, 64, 0] {
            short.changes = message.changes.map { $0.cut(to: length) }
            let bytes = body(type(of: message.event), message.occurredAt, short.record().value)
            if bytes.count <= limit { return bytes }
        }
        while short.changes.count > 1 {
            short.changes.removeLast((short.changes.count + 1) / 2)
            let bytes = body(type(of: message.event), message.occurredAt, short.record().value)
            if bytes.count <= limit { return bytes }
        }
        return body(type(of: message.event), message.occurredAt, short.record().value)
    }

    /// The body of Apple's request: `{"signedPayload": …}`.
    /// - Parameter signedPayload: the notification as Apple signed it.
    package static func relay(of signedPayload: [UInt8]) -> [UInt8] {
        var json = JSONWriter(capacity: signedPayload.count + 32)
        json.beginObject()
        json.member("signedPayload", String(decoding: signedPayload, as: UTF8.self))
        json.endObject()
        return json.bytes
    }

    /// The body of `webhook.test`.
    package static func test(of endpoint: UUID, in environment: StoreEnvironment, requestedAt: Date) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("endpoint", endpoint.uuidString.lowercased())
        json.member("environment", environment.rawValue)
        json.endObject()
        return body("webhook.test", requestedAt, json.bytes)
    }

    /// The id of `webhook.test`.
    package static func testId(of endpoint: UUID, requestedAt: Date) -> String {
        "test/\(endpoint.uuidString.lowercased())/\(requestedAt.milliseconds)"
    }

    /// The body of `webhook.disabled`, which the other endpoints of an environment get.
    package static func disabled(_ notice: EndpointHealth.Notice, in environment: StoreEnvironment) -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("endpoint", notice.about.uuidString.lowercased())
        json.member("environment", environment.rawValue)
        json.endObject()
        return body("webhook.disabled", notice.at, json.bytes)
    }

    /// The id of `webhook.disabled`, the same at all endpoints.
    package static func disabledId(_ notice: EndpointHealth.Notice) -> String {
        "disabled/\(notice.about.uuidString.lowercased())/\(notice.at.milliseconds)"
    }

    private static func body(_ type: String, _ timestamp: Date, _ data: [UInt8]) -> [UInt8] {
        var json = JSONWriter(capacity: data.count + 128)
        json.beginObject()
        json.member("type", type)
        json.member("timestamp", timestamp.iso8601)
        json.member("data", raw: data)
        json.endObject()
        return json.bytes
    }
}

extension FactChange {
    fileprivate func cut(to length: Int) -> FactChange {
        FactChange(
            fact: fact, from: from.map { String($0.prefix(length)) }, to: to.map { String($0.prefix(length)) },
            transactionId: transactionId)
    }
}
