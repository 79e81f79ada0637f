import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A page of Apple's notification history, or a chunk of one: recovery compares it with the ledger.
public struct HistoryPage: TopicMessage, Hashable {
    /// One notification as Apple recorded it.
    public struct Item: Sendable, Hashable {
        /// The compact JWS that Apple sent or tried to send, byte for byte. Nothing of it is verified.
        public var signedPayload: [UInt8]
        /// Apple's attempts to deliver it, in Apple's order.
        public var sendAttempts: [SendAttempt]

        package init(signedPayload: [UInt8], sendAttempts: [SendAttempt]) {
            self.signedPayload = signedPayload
            self.sendAttempts = sendAttempts
        }
    }

    /// One attempt of Apple's to deliver it.
    public struct SendAttempt: Sendable, Hashable {
        /// By Apple's clock.
        public var attemptedAt: Date
        /// Apple's raw value, so that an unknown one is kept.
        public var result: String

        package init(attemptedAt: Date, result: String) {
            self.attemptedAt = attemptedAt
            self.result = result
        }
    }

    /// The window of the request; an id of the database.
    public var window: UUID
    /// The environment of the request.
    public var environment: StoreEnvironment
    /// Bundle identifier of the app.
    public var bundleId: String
    /// Counts the pages of the window from 0.
    public var page: Int64
    /// Counts the messages of the page from 0: one that would be too large for a record is divided.
    public var part: Int64
    /// Apple's list, oldest first.
    public var items: [Item]
    /// When Apple answered.
    public var fetchedAt: Date

    package init(
        window: UUID, environment: StoreEnvironment, bundleId: String, page: Int64, part: Int64, items: [Item],
        fetchedAt: Date
    ) {
        self.window = window
        self.environment = environment
        self.bundleId = bundleId
        self.page = page
        self.part = part
        self.items = items
        self.fetchedAt = fetchedAt
    }

    private static let version: Int64 = 1

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        guard let listed = message["items"], listed.kind == .array else { throw .missing("items") }
        var items: [Item] = []
        for item in listed.elements { items.append(try Item(item)) }
        self.init(
            window: try message.uuid("window"), environment: try message.environment(),
            bundleId: try message.string("bundleId"), page: try message.integer("page"),
            part: try message.integer("part"), items: items,
            fetchedAt: try message.date("fetchedAt"))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var json = JSONWriter(capacity: items.reduce(256) { $0 + $1.signedPayload.count + 512 })
        json.beginObject()
        json.member("version", Self.version)
        json.member("window", window.uuidString.lowercased())
        json.member("environment", environment.rawValue)
        json.member("bundleId", bundleId)
        json.member("page", page)
        json.member("part", part)
        json.beginArray("items")
        for item in items { item.write(to: &json) }
        json.endArray()
        json.member("fetchedAt", fetchedAt.milliseconds)
        json.endObject()
        return WireRecord(value: json.bytes, headers: [WireHeader(Headers.contentType, "application/json")])
    }
}

extension HistoryPage.Item {
    fileprivate init(_ json: JSONValue) throws(ContractFault) {
        guard let signedPayload = json["signedPayload"]?.unescapedBytes else { throw .missing("signedPayload") }
        guard let listed = json["sendAttempts"], listed.kind == .array else { throw .missing("sendAttempts") }
        var attempts: [HistoryPage.SendAttempt] = []
        for attempt in listed.elements {
            guard let at = attempt["attemptedAt"]?.int64 else { throw .missing("attemptedAt") }
            guard let result = attempt["result"]?.string else { throw .missing("result") }
            // Apple signs no attempts: one of an impossible date must not keep back the notification.
            guard let attemptedAt = Date(recorded: at) else { continue }
            attempts.append(.init(attemptedAt: attemptedAt, result: result))
        }
        self.init(signedPayload: signedPayload, sendAttempts: attempts)
    }

    fileprivate func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("signedPayload", String(decoding: signedPayload, as: UTF8.self))
        json.beginArray("sendAttempts")
        for attempt in sendAttempts {
            json.beginObject()
            json.member("attemptedAt", attempt.attemptedAt.milliseconds)
            json.member("result", attempt.result)
            json.endObject()
        }
        json.endArray()
        json.endObject()
    }
}
