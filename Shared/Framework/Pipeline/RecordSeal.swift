import Chassis
import Digests
import Kafka
import Records

/// Authenticates a record: it was written by a process that holds the deployment's key: an HMAC-SHA256 in a header, over key, value
/// and all other headers but the trace's.
///
/// Without it, every user who can write to Kafka can write state. Proving Apple's signature again instead would cover less:
/// versions, sources and Apple's unsigned status are not signed by Apple. The topic is not covered: a record that was sealed once
/// and is written again, anywhere, is a repetition, and those are dropped.
public struct RecordSeal: Sendable {
    /// Least number of bytes of a key.
    public static let minimumKeyBytes = 32

    static let rejection =
        "the record has no valid seal: another program wrote it, or its key is not in STOREKEEPER_RECORD_KEYS_FILE"

    private let keys: [MessageAuthentication]

    /// - Parameter keys: the first seals, all are accepted; none turns sealing off.
    public init(keys: [[UInt8]] = []) { self.keys = keys.map(MessageAuthentication.init) }

    /// One key per line; empty lines are ignored.
    /// - Throws: a problem of the file.
    public init(file path: String?) throws(ConfigurationProblems) {
        guard let path else {
            self.init()
            return
        }
        let name = Variable<String?>.recordKeysName
        let keys = try KeyFile.lines(of: path, named: name)
        guard !keys.isEmpty, keys.allSatisfy({ $0.count >= Self.minimumKeyBytes }) else {
            throw ConfigurationProblems([
                .unusable(
                    name: name,
                    reason:
                        "names \(path), which must hold one key of at least \(Self.minimumKeyBytes) characters per line; "
                        + "openssl rand -hex 32 creates one")
            ])
        }
        self.init(keys: keys)
    }

    /// Whether records are sealed and seals required.
    public var isOn: Bool { !keys.isEmpty }

    /// The record with its seal; unchanged where sealing is off.
    public func sealed(_ record: ProducerRecord) -> ProducerRecord {
        guard let first = keys.first else { return record }
        var record = record
        record.headers.removeAll { $0.name == Headers.seal }
        let wire = WireRecord(
            key: record.key, value: record.value, headers: record.headers.map { WireHeader($0.name, $0.value) })
        record.headers.append(RecordHeader(name: Headers.seal, value: first.code(of: Self.covered(wire))))
        return record
    }

    /// Whether a process of this deployment wrote it; true where sealing is off.
    public func isValid(_ record: WireRecord) -> Bool {
        guard isOn else { return true }
        let seals = record.headers.filter { $0.name == Headers.seal }
        guard seals.count == 1, let seal = seals.first else { return false }
        let covered = Self.covered(record)
        return keys.contains { $0.isValid(seal.value, of: covered) }
    }

    /// Each piece with its length before it, so that no two records are the same bytes.
    private static func covered(_ record: WireRecord) -> [ArraySlice<UInt8>] {
        var pieces: [[UInt8]] = [record.key == nil ? [0] : [1], record.key ?? [], record.value]
        for header in record.headers where header.name != Headers.seal && header.name != Headers.traceparent {
            pieces.append(Array(header.name.utf8))
            pieces.append(header.value)
        }
        return pieces.flatMap { piece in
            [withUnsafeBytes(of: UInt64(piece.count).bigEndian, Array.init)[...], piece[...]]
        }
    }
}

extension Variable where Value == String? {
    /// The file with the keys of ``RecordSeal``.
    public static var recordKeys: Variable {
        Variable<String>.path(
            recordKeysName,
            "file with the keys by which services authenticate the records that they write for each other, one per line; the "
                + "first signs new records, all are accepted. Without it, every user who can write to Kafka can write state"
        ).optional
    }
}

extension Variable {
    /// Also read by the command line.
    public static var recordKeysName: String { "STOREKEEPER_RECORD_KEYS_FILE" }
}
