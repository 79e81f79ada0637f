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
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let whole = lines.dropLast().map(String.init)
        let heading = "# \(place)"
        guard whole.first ?? heading == heading else {
            throw CommandError(
                "the progress file \(path) is of another app or environment: it begins with "
                    + "\(whole[0].prefix(80).description.escaped) instead of \(heading); choose another with --progress"
            )
        }
        if let torn = lines.last, !torn.isEmpty { try file.truncate(atOffset: UInt64(content.count - torn.utf8.count)) }
        if whole.isEmpty { try file.write(contentsOf: Data("\(heading)\n".utf8)) }
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
