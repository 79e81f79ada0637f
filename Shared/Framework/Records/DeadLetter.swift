import struct Foundation.Date

/// A record that a stage rejected: its key, value and headers unchanged, with the rejection beside them.
public struct DeadLetter: TopicMessage, Hashable {
    /// The record as it was read. Its own dead-letter headers, if it had any, come before the new ones.
    public var original: WireRecord
    /// The stage that rejected it.
    public var stage: String
    /// The raw value of the stage's reason.
    public var reason: String
    /// One sentence, cut at 512 bytes.
    public var message: String
    /// The place of the record.
    public var position: LogPosition
    /// When it was rejected; millisecond precision.
    public var rejectedAt: Date
    /// How often it was processed, this time included.
    public var attempts: Int
    /// The version of the build that rejected it.
    public var build: String

    package init(
        original: WireRecord, stage: String, reason: String, message: String, position: LogPosition, rejectedAt: Date,
        attempts: Int, build: String
    ) {
        self.original = original
        self.stage = stage
        self.reason = reason
        self.message = Self.cut(message)
        self.position = position
        self.rejectedAt = rejectedAt
        self.attempts = attempts
        self.build = build
    }

    /// The number of headers that ``record()`` appends.
    private static let ownHeaders = 9

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        func text(_ name: String) throws(ContractFault) -> String {
            guard let text = record.header(name) else { throw .missing(name) }
            return text
        }
        func number<Number: LosslessStringConvertible>(_ name: String) throws(ContractFault) -> Number {
            guard let number = Number(try text(name)) else { throw .missing(name) }
            return number
        }
        let position = LogPosition(
            topic: try text(Headers.deadLetterTopic), partition: try number(Headers.deadLetterPartition),
            offset: try number(Headers.deadLetterOffset))
        guard let rejectedAt = Date(recorded: try number(Headers.deadLetterTime)) else {
            throw .missing(Headers.deadLetterTime)
        }
        self.init(
            original: WireRecord(
                key: record.key, value: record.value, headers: Array(record.headers.dropLast(Self.ownHeaders))),
            stage: try text(Headers.deadLetterStage), reason: try text(Headers.deadLetterReason),
            message: try text(Headers.deadLetterMessage), position: position,
            rejectedAt: rejectedAt,
            attempts: try number(Headers.deadLetterAttempts), build: try text(Headers.deadLetterBuild))
    }

    /// The record that carries the message.
    public func record() -> WireRecord {
        let own = [
            WireHeader(Headers.deadLetterStage, stage),
            WireHeader(Headers.deadLetterReason, reason),
            WireHeader(Headers.deadLetterMessage, message),
            WireHeader(Headers.deadLetterTopic, position.topic),
            WireHeader(Headers.deadLetterPartition, String(position.partition)),
            WireHeader(Headers.deadLetterOffset, String(position.offset)),
            WireHeader(Headers.deadLetterTime, String(rejectedAt.milliseconds)),
            WireHeader(Headers.deadLetterAttempts, String(attempts)),
            WireHeader(Headers.deadLetterBuild, build),
        ]
        return WireRecord(key: original.key, value: original.value, headers: original.headers + own)
    }

    /// At most 512 bytes, never through the middle of a character.
    private static func cut(_ message: String) -> String {
        guard message.utf8.count > 512 else { return message }
        var cut = ""
        var length = 0
        for character in message {
            length += character.utf8.count
            if length > 512 { break }
            cut.append(character)
        }
        return cut
    }
}
