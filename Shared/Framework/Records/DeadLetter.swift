import struct Foundation.Date

/// A record that a stage rejected: its key, value and headers unchanged, with the rejection beside them.
public struct DeadLetter: TopicMessage, Hashable {
    /// The record as it was read; the beginning of one that is too large. Its own dead-letter headers, if it had any, come before the
    /// new ones.
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
        let size = original.byteCount
        if size > Self.longestOriginal {
            self.original = original.beginning
            self.message = Self.cut("\(Self.cutPrefix)\(size)\(Self.cutSuffix)\(message)")
        } else {
            self.original = original
            self.message = Self.cut(message)
        }
        self.stage = stage
        self.reason = reason
        self.position = position
        self.rejectedAt = rejectedAt
        self.attempts = attempts
        self.build = build
    }

    /// Bytes. Brokers take a megabyte by default, with the headers that ``record()`` appends; a larger dead letter would never be
    /// written, and its stage would try for ever. Any client that may write to a topic can compress a record of any size.
    static let longestOriginal = 990_000

    /// Around the number of bytes, in the message of a record that is too large.
    private static let (cutPrefix, cutSuffix) = ("of its ", " bytes this is the beginning; ")

    /// Whether ``original`` is only the beginning of a record that is too large, which no replay can bring back.
    public var isBeginning: Bool {
        guard message.hasPrefix(Self.cutPrefix), let end = message.firstRange(of: Self.cutSuffix),
            let size = Int(message[..<end.lowerBound].dropFirst(Self.cutPrefix.count))
        else { return false }
        return size > Self.longestOriginal
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

extension WireRecord {
    /// Bytes of key, value and headers, each header with its two lengths.
    fileprivate var byteCount: Int {
        headers.reduce((key?.count ?? 0) + value.count) { $0 + $1.name.utf8.count + $1.value.count + 10 }
    }

    /// Enough to see what it is: a kilobyte of the value, and the headers as our services write them.
    fileprivate var beginning: WireRecord {
        WireRecord(
            key: key.flatMap { $0.count <= 1024 ? $0 : nil }, value: Array(value.prefix(1024)),
            headers: Array(headers.filter { $0.name.utf8.count + $0.value.count <= 1024 }.prefix(32)))
    }
}
