import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// The input of one comparison: a file, or files that belong together.
struct CompareFile {
    var paths: [String]
    var shape: ImportShape
    /// The moment of the newest of them, or the one given.
    var takenAt: Date

    /// - Parameter takenAt: nil: when the file was last written.
    /// - Throws: as ``ImportFile/read(begin:each:)``.
    init(_ path: String, columns: ImportColumns?, takenAt: Date? = nil) throws {
        paths = [path]
        shape = try ImportFile(pieces: FilePieces(path: path), columns: columns).shape()
        guard let date = try takenAt ?? FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date
        else { throw CommandError("\(path.escaped) has no time of its last change: give --taken-at") }
        self.takenAt = Self.second(of: date)
    }

    private static func second(of date: Date) -> Date {
        Date(timeIntervalSince1970: date.timeIntervalSince1970.rounded(.down))
    }

    /// The paths of the files of a directory and of those within: RevenueCat makes one for each day.
    private static func paths(in directory: String) throws -> [String] {
        let names: [String]
        do { names = try FileManager.default.contentsOfDirectory(atPath: directory) } catch {
            throw CommandError("the directory \(directory.escaped) cannot be read: check the name and its permissions")
        }
        let isMade = { (name: String) in
            name.hasPrefix(".") || name.hasSuffix(".outcomes") || name.hasSuffix(".progress")
        }
        return try names.filter { !isMade($0) }.sorted().flatMap { name in
            let path = (directory as NSString).appendingPathComponent(name)
            return path.isDirectory ? try paths(in: path) : [path]
        }
    }

    /// The files of a directory, the oldest first. Those of Adapty hold the events of a day each, and are read as one; of the others each
    /// has all customers.
    /// - Parameter takenAt: nil: when the files were last written.
    /// - Throws: as ``ImportFile/read(begin:each:)``; `ValidationError` where `takenAt` could be of several.
    static func all(in directory: String, columns: ImportColumns?, takenAt: Date? = nil) throws -> [CompareFile] {
        let files = try paths(in: directory).map { try CompareFile($0, columns: columns) }
        var joined: [CompareFile] = []
        for file in files {
            if file.shape == .adapty, let place = joined.firstIndex(where: { $0.shape == .adapty }) {
                joined[place].paths += file.paths
                joined[place].takenAt = max(joined[place].takenAt, file.takenAt)
            } else {
                joined.append(file)
            }
        }
        if let takenAt {
            guard joined.count < 2 else {
                throw ValidationError(
                    "--taken-at is of one file, or of those of Adapty: others of a directory are of when they were last changed"
                )
            }
            for index in joined.indices { joined[index].takenAt = second(of: takenAt) }
        }
        joined.sort { $0.takenAt < $1.takenAt }
        // A file replaces what one of its kind and moment gave: of files that were copied at once only the first would be compared.
        for (index, file) in joined.enumerated() {
            guard let other = joined[..<index].last(where: { $0.takenAt == file.takenAt && $0.shape == file.shape })
            else { continue }
            throw CommandError(
                "\(other.paths[0].escaped) and \(file.paths[0].escaped) are both of \(file.takenAt.text): give each the time of its "
                    + "export by touch --date, or compare one after the other with --taken-at")
        }
        return joined
    }
}

/// The contents read from a file, to be compared.
final class CompareContents {
    /// Lines that are listed; the others are counted.
    static let listedFaults = 1000

    let buckets: CustomerBuckets
    private(set) var counts = Comparison.Counts()
    private(set) var faults: [Fault] = []
    /// Purchases of the App Store that the file names.
    private(set) var purchases: Set<UInt64> = []
    /// The customers of Adapty's own ids, by the digests of these.
    private var names: [UInt64: String] = [:]

    /// A line that cannot be used, and why.
    struct Fault: Encodable, Sendable {
        var file: String
        var line: Int
        var reason: String
    }

    /// - Parameter progress: is told the number of records.
    /// - Throws: as ``ImportFile/read(begin:each:)``.
    init(_ file: CompareFile, columns: ImportColumns?, reader: ImportReader, progress: (Int) -> Void) throws {
        buckets = try CustomerBuckets()
        if file.shape == .adapty { try readNames(file, reader) }
        for path in file.paths {
            try ImportFile(pieces: FilePieces(path: path), columns: columns).read { shape in
                guard shape == file.shape else { throw CommandError("\(path.escaped) is of another kind than it was") }
            } each: { content, line in
                let entry =
                    switch content {
                    case .line(let bytes): reader.access(ofLine: bytes, line: line)
                    case .record(let record): reader.access(of: record, line: line, file.shape)
                    case .malformed(let reason): AccessEntry.fault(reason)
                    }
                try add(entry, path, line)
                if (counts.records + counts.invalid) % 10_000 == 0 { progress(counts.records) }
            }
        }
    }

    /// Adapty's own ids of customers for whom another event has the developer's, as ``ImportList`` joins them: an app may sell before it
    /// knows the customer. Read first, because that event may stand anywhere.
    private func readNames(_ file: CompareFile, _ reader: ImportReader) throws {
        for path in file.paths {
            try ImportFile(pieces: FilePieces(path: path)).read { _ in
            } each: { content, _ in
                guard case .record(let record) = content, let own = record["profile_id"],
                    let name = try? reader.customerId(record["customer_user_id"])
                else { return }
                names[own.digest] = names[own.digest] ?? name
            }
        }
    }

    private func add(_ entry: AccessEntry, _ path: String, _ line: Int) throws {
        switch entry {
        case .fault(let reason):
            counts.invalid += 1
            if faults.count < Self.listedFaults { faults.append(Fault(file: path, line: line, reason: reason)) }
            return
        case .skipped(let skip): counts.skipped[skip.rawValue, default: 0] += 1
        case .records(let customer, let aliases, let records):
            let name = aliases.isEmpty ? names[customer.digest] : nil
            for record in records {
                if let purchase = record.purchase { purchases.insert(Self.key(purchase)) }
                try buckets.add(record, of: name ?? customer, aliases: name == nil ? aliases : [customer])
            }
        }
        counts.records += 1
    }

    /// The key of an original transaction id, which is a text of digits.
    static func key(_ purchase: String) -> UInt64 { UInt64(purchase) ?? purchase.digest }
}

extension String {
    /// Whether a directory has this path.
    var isDirectory: Bool {
        var isDirectory = ObjCBool(false)
        return FileManager.default.fileExists(atPath: self, isDirectory: &isDirectory) && isDirectory.boolValue
    }
}

extension ImportFile {
    /// The shape of the file, as its beginning shows it.
    /// - Throws: as ``read(begin:each:)``.
    func shape() throws -> ImportShape {
        struct Found: Error { var shape: ImportShape }
        do {
            try read { shape in
                throw Found(shape: shape)
            } each: { _, _ in
            }
        } catch let found as Found { return found.shape }
        throw CommandError("\(pieces.path.escaped) is empty")
    }
}
