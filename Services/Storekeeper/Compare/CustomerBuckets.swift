import Commands
import Foundation
import Operations

/// The customers of a file whose records stand in any order, gathered by means of files without a name, so that the memory that they take
/// does not grow with the file: each bucket holds some customers with all their records.
final class CustomerBuckets {
    static let count = 64
    /// Bytes that wait in memory, for each bucket.
    private static let waiting = 1 << 16

    private var files: [FileHandle] = []
    private var buffers: [[UInt8]]
    private let path: String

    /// - Throws: `CommandError` where the directory for temporary files cannot be written.
    init() throws {
        buffers = Array(repeating: [], count: Self.count)
        path = FileManager.default.temporaryDirectory.path
        for _ in 0..<Self.count { files.append(try Self.unnamedFile(in: path)) }
    }

    private static func unnamedFile(in directory: String) throws -> FileHandle {
        var name = Array((directory + "/storekeeper-compare.XXXXXX").utf8CString)
        let descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw unusable(directory) }
        unlink(name)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    }

    private static func unusable(_ directory: String) -> CommandError {
        CommandError(
            "a temporary file in \(directory.escaped) cannot be written: make room there, or name another directory with TMPDIR"
        )
    }

    func add(_ record: IncumbentRecord, of customer: String, aliases: [String]) throws {
        let bucket = Int(customer.digest % UInt64(Self.count))
        var writer = SpillWriter()
        writer.append(customer)
        writer.append(UInt64(aliases.count))
        aliases.forEach { writer.append($0) }
        writer.append(record)
        buffers[bucket] += writer.bytes
        if buffers[bucket].count >= Self.waiting { try flush(bucket) }
    }

    private func flush(_ bucket: Int) throws {
        do { try files[bucket].write(contentsOf: Data(buffers[bucket])) } catch { throw Self.unusable(path) }
        buffers[bucket].removeAll(keepingCapacity: true)
    }

    /// The customers of a bucket, in the order of their first records; nil where there is no such bucket.
    func customers(of bucket: Int) throws -> [IncumbentCustomer]? {
        guard bucket < Self.count else { return nil }
        try flush(bucket)
        buffers[bucket] = []
        let bytes: Data
        do {
            try files[bucket].seek(toOffset: 0)
            bytes = try files[bucket].readToEnd() ?? Data()
        } catch { throw Self.unusable(path) }
        var reader = SpillReader(bytes: Array(bytes))
        var places: [[UInt8]: Int] = [:]
        var customers: [IncumbentCustomer] = []
        while !reader.isAtEnd {
            let id = reader.text()
            let aliases = (0..<reader.number()).map { _ in reader.text() }
            let record = reader.record()
            if let place = places[id.exact] {
                customers[place].records.append(record)
                for alias in aliases where !customers[place].aliases.contains(where: { $0.exact == alias.exact }) {
                    customers[place].aliases.append(alias)
                }
            } else {
                places[id.exact] = customers.count
                customers.append(IncumbentCustomer(id: id, aliases: aliases, records: [record]))
            }
        }
        return customers
    }
}

extension String {
    /// FNV-1a: the same in every process, and nothing that needs to be secret.
    var digest: UInt64 { utf8.reduce(14_695_981_039_346_656_037) { ($0 ^ UInt64($1)) &* 1_099_511_628_211 } }
}

/// Writes records for the same process to read.
private struct SpillWriter {
    var bytes: [UInt8] = []

    mutating func append(_ number: UInt64) { withUnsafeBytes(of: number) { bytes.append(contentsOf: $0) } }

    mutating func append(_ text: String) {
        append(UInt64(text.utf8.count))
        bytes.append(contentsOf: text.utf8)
    }

    private mutating func append(_ text: String?) {
        bytes.append(text == nil ? 0 : 1)
        if let text { append(text) }
    }

    private mutating func append(_ date: Date?) {
        bytes.append(date == nil ? 0 : 1)
        if let date { append(date.timeIntervalSince1970.bitPattern) }
    }

    mutating func append(_ record: IncumbentRecord) {
        append(UInt64(record.line))
        bytes += [record.store.rawValue, record.isSandbox ? 1 : 0, record.isShared ? 1 : 0]
        append(record.identity)
        append(record.version)
        append(record.purchase)
        append(record.product)
        append(UInt64(record.entitlements.count))
        record.entitlements.forEach { append($0) }
        append(record.startsAt)
        append(record.endsAt)
        append(record.graceEndsAt)
        append(record.refundedAt)
    }
}

/// Reads what ``SpillWriter`` wrote; other bytes are an error of the program.
private struct SpillReader {
    private let bytes: [UInt8]
    private var place = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    var isAtEnd: Bool { place == bytes.count }

    private mutating func byte() -> UInt8 {
        defer { place += 1 }
        return bytes[place]
    }

    private mutating func word() -> UInt64 {
        defer { place += 8 }
        return bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: place, as: UInt64.self) }
    }

    mutating func number() -> Int { Int(word()) }

    mutating func text() -> String {
        let count = number()
        defer { place += count }
        return String(decoding: bytes[place..<(place + count)], as: UTF8.self)
    }

    private mutating func optionalText() -> String? { byte() == 0 ? nil : text() }

    private mutating func date() -> Date? {
        byte() == 0 ? nil : Date(timeIntervalSince1970: Double(bitPattern: word()))
    }

    mutating func record() -> IncumbentRecord {
        let line = number()
        var record = IncumbentRecord(line: line, store: IncumbentRecord.Store(rawValue: byte()) ?? .other)
        record.isSandbox = byte() == 1
        record.isShared = byte() == 1
        record.identity = text()
        record.version = date()
        record.purchase = optionalText()
        record.product = optionalText()
        record.entitlements = (0..<number()).map { _ in text() }
        record.startsAt = date()
        record.endsAt = date()
        record.graceEndsAt = date()
        record.refundedAt = date()
        return record
    }
}
