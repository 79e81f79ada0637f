import Digests
import Foundation
import Kafka
import Records

/// What shows that an offset still means what it meant when it was stored: digests of records before it.
///
/// A topic that was deleted and created again has the name of the old one, and so have its partitions after a broker lost
/// records: an offset in it is a number without a meaning, and reading from it skips as many records as it counts. The record
/// at a known offset tells the two apart.
///
/// Two records are enough: `records.first` was compared with the topic after it was read, the last one was read since. While
/// the first is in the topic, everything that was read before it was compared is of the same topic.
public struct PositionEvidence: Sendable, Hashable {
    /// A record that was read.
    public struct Record: Sendable, Hashable {
        /// Its own offset.
        public var offset: Int64
        /// The beginning of a SHA-256 of timestamp, key, headers and value.
        public var digest: UInt64

        package init(offset: Int64, digest: UInt64) {
            self.offset = offset
            self.digest = digest
        }

        init(_ record: ConsumerRecord) {
            self.init(offset: record.offset, digest: record.digest)
        }
    }

    /// At most two, by offset; none where nothing was read yet.
    public var records: [Record]
    /// When reading began again at the start of the partition, because it holds other records than these.
    public var restartedAt: Date?

    package init(_ records: [Record] = [], restartedAt: Date? = nil) {
        self.records = records
        self.restartedAt = restartedAt
    }

    /// For a group that is to begin behind a record.
    package init(endingWith record: ConsumerRecord) { self.init([Record(record)]) }

    /// The offset behind the last record that was read; the beginning where none was.
    var end: Int64 { records.last.map { $0.offset + 1 } ?? TopicPartitionOffset.beginning }

    /// After a further record was read.
    /// - Parameter first: read in the same turn, for the first turn of all.
    func adding(first: Record, last: Record) -> PositionEvidence {
        let oldest = records.first ?? first
        return PositionEvidence(oldest == last ? [last] : [oldest, last], restartedAt: restartedAt)
    }

    /// A restart is remembered for a day, for `storekeeper status`.
    func forgettingRestart(at now: Date) -> PositionEvidence {
        guard let restartedAt, now.timeIntervalSince(restartedAt) > 86_400 else { return self }
        return PositionEvidence(records)
    }

    /// After all its records were found in the topic.
    /// - Parameter compared: this evidence as it was when the comparison began.
    func confirmed(_ compared: PositionEvidence) -> PositionEvidence {
        let obsolete = compared.records.dropLast()
        return PositionEvidence(records.filter { !obsolete.contains($0) }, restartedAt: restartedAt)
    }
}

extension PositionEvidence {
    /// `17:9f86d081884c7d65 90:2c26b46b68ffc68f restarted:1767225600000`, as stored beside an offset.
    public var text: String {
        let parts =
            records.map { "\($0.offset):\(String($0.digest, radix: 16))" }
            + (restartedAt.map { ["\(Self.restarted):\($0.milliseconds)"] } ?? [])
        return parts.joined(separator: " ")
    }

    /// - Parameter text: parts that are not evidence are ignored, because any client can commit any text.
    public init(text: String?) {
        self.init()
        for part in (text ?? "").split(separator: " ") {
            let pair = part.split(separator: ":")
            guard pair.count == 2 else { continue }
            if pair[0] == Self.restarted, let milliseconds = Int64(pair[1]) {
                restartedAt = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            } else if let offset = Int64(pair[0]), (0..<Int64.max).contains(offset),
                let digest = UInt64(pair[1], radix: 16)
            {
                records.append(Record(offset: offset, digest: digest))
            }
        }
    }

    private static let restarted = "restarted"
}

extension ConsumerRecord {
    /// The same for the same record, whichever client reads it.
    fileprivate var digest: UInt64 {
        var hash = SHA256Hash()
        // Lengths separate the pieces.
        func add(_ bytes: [UInt8]?) {
            withUnsafeBytes(of: Int64(bytes?.count ?? -1).littleEndian) { hash.update(ArraySlice($0)) }
            if let bytes { hash.update(bytes[...]) }
        }
        // Of any size: the writer of a record chooses its timestamp.
        add(timestamp.map { Array("\($0.milliseconds)".utf8) })
        add(key)
        for header in headers {
            add(Array(header.name.utf8))
            add(header.value)
        }
        add(value)
        return hash.digest().prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }
}
