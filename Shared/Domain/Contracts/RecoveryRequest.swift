import Records
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// A gap in the lifecycle of a purchase, about which Apple is to be asked. Once per purchase and gap.
public struct RecoveryRequest: TopicMessage, Hashable {
    /// Where the purchase was made.
    public var environment: StoreEnvironment
    /// Apple's id of the first transaction.
    public var originalTransactionId: String
    /// Bundle identifier of the app.
    public var bundleId: String
    /// The missing steps, by the names of the lifecycle rules.
    public var skipped: [String]
    /// The first notification after the gap.
    public var before: UUID
    /// The gap begins, by Apple's clock; nil where no notification came before it.
    public var from: Date?
    /// The gap ends.
    public var to: Date
    /// When it was detected.
    public var requestedAt: Date

    package init(
        environment: StoreEnvironment, originalTransactionId: String, bundleId: String, skipped: [String],
        before: UUID, from: Date?, to: Date, requestedAt: Date
    ) {
        self.environment = environment
        self.originalTransactionId = originalTransactionId
        self.bundleId = bundleId
        self.skipped = skipped
        self.before = before
        self.from = from
        self.to = to
        self.requestedAt = requestedAt
    }

    private static let version: Int64 = 1

    /// The same in every repetition.
    public var id: String { "gap/\(before.uuidString.lowercased())" }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        var skipped: [String] = []
        for kind in message["skipped"]?.elements ?? [] {
            guard let kind = kind.string else { throw .missing("skipped") }
            skipped.append(kind)
        }
        self.init(
            environment: try message.environment(), originalTransactionId: try message.key("originalTransactionId"),
            bundleId: try message.key("bundleId"), skipped: skipped, before: try message.uuid("before"),
            from: message["from"]?.int64.flatMap { Date(recorded: $0) }, to: try message.date("to"),
            requestedAt: try message.date("requestedAt"))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var json = JSONWriter()
        json.beginObject()
        json.member("version", Self.version)
        json.member("environment", environment.rawValue)
        json.member("originalTransactionId", originalTransactionId)
        json.member("bundleId", bundleId)
        json.beginArray("skipped")
        for kind in skipped { json.element(kind) }
        json.endArray()
        json.member("before", before.uuidString.lowercased())
        json.member("from", from?.milliseconds)
        json.member("to", to.milliseconds)
        json.member("requestedAt", requestedAt.milliseconds)
        json.endObject()
        return WireRecord(
            key: Array(originalTransactionId.utf8), value: json.bytes,
            headers: Headers.cloudEvent(
                id: id, type: "storekeeper.recovery.requested", environment: environment, bundleId: bundleId))
    }
}
