import Records
import StrictJSON

import struct Foundation.Date

/// The answers of one ingest within one minute. A minute without one, and a minute with rejections, is a minute in which
/// notifications may have been lost.
public struct IngestHeartbeat: TopicMessage, Hashable {
    /// Names the instance; unique among those that run at the same time.
    public var instance: String
    /// Start of the minute.
    public var minute: Date
    /// Requests answered 200.
    public var accepted: Int64
    /// Requests answered otherwise, by HTTP status.
    public var rejected: [Int: Int64]
    /// The instance ends, and was not killed: this is its last one.
    package var isLast: Bool

    package init(
        instance: String, minute: Date, accepted: Int64, rejected: [Int: Int64], isLast: Bool = false
    ) {
        self.instance = instance
        self.minute = minute
        self.accepted = accepted
        self.rejected = rejected
        self.isLast = isLast
    }

    private static let version: Int64 = 1
    /// More than a minute has; sums of them do not overflow.
    private static let counts: ClosedRange<Int64> = 0...1_000_000_000

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        let message = try MessageReader(record.value, version: Self.version)
        var rejected: [Int: Int64] = [:]
        for (status, count) in message["rejected"]?.members ?? [] {
            guard let status = Int(status), let count = count.int64, Self.counts.contains(count) else {
                throw .missing("rejected")
            }
            rejected[status] = count
        }
        let accepted = try message.integer("accepted")
        guard Self.counts.contains(accepted) else { throw .missing("accepted") }
        self.init(
            instance: try message.key("instance"), minute: try message.date("minute"), accepted: accepted,
            rejected: rejected, isLast: message["isLast"]?.bool ?? false)
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        var json = JSONWriter()
        json.beginObject()
        json.member("version", Self.version)
        json.member("instance", instance)
        json.member("minute", minute.milliseconds)
        json.member("accepted", accepted)
        json.beginObject("rejected")
        for (status, count) in rejected.sorted(by: { $0.key < $1.key }) { json.member(String(status), count) }
        json.endObject()
        if isLast { json.member("isLast", true) }
        json.endObject()
        return WireRecord(key: Array(instance.utf8), value: json.bytes)
    }
}
