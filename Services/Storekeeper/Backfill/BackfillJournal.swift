import Commands
import Foundation
import Synchronization

/// The imported customers in a file, one id per line below app and environment: makes a backfill resumable.
final class BackfillJournal: Sendable {
    /// Imported before this run.
    let done: Set<String>
    /// App and environment.
    let place: String
    private let file: Mutex<FileHandle>

    /// Opens or creates the file. A last line that a crash truncated does not count.
    /// - Parameter place: app and environment that the progress applies to.
    /// - Throws: `CommandError` also where the file is of another app or environment, or another backfill uses it.
    init(at path: String, of place: String) throws {
        let file = try LockedFile.open(
            path, called: "the progress file \(path)", remedy: "choose another with --progress",
            taken: "another backfill uses the progress file \(path); wait until it ends")
        let content = try file.readToEnd() ?? Data()
        let heading = "# \(place)"
        // A crash may have cut the heading itself. By bytes, of which a file of something else has any.
        let lines = content.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let isBegun = lines.count > 1
        guard isBegun ? lines[0].elementsEqual(heading.utf8) : heading.utf8.starts(with: content) else {
            let beginning = String(decoding: content.prefix { $0 != UInt8(ascii: "\n") }.prefix(80), as: UTF8.self)
            throw CommandError(
                "the progress file \(path.escaped) is of another app or environment, or of something else: it begins with "
                    + "\(beginning.escaped) instead of \(heading.escaped); choose another with --progress")
        }
        let whole = lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
        if let torn = lines.last, !torn.isEmpty { try file.truncate(atOffset: UInt64(content.count - torn.count)) }
        if !isBegun {
            try file.seek(toOffset: 0)
            try file.write(contentsOf: Data("\(heading)\n".utf8))
        }
        done = Set(whole.dropFirst())
        self.place = place
        self.file = Mutex(file)
    }

    /// Call once everything about the customer is in Kafka.
    func note(_ id: String) throws {
        try file.withLock { file in
            try file.seekToEnd()
            try file.write(contentsOf: Data("\(id)\n".utf8))
        }
    }
}
