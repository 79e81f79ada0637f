import Foundation
import Synchronization

/// Who is done, in a file of one id per line below the app and environment: what makes a backfill resumable.
final class BackfillJournal: Sendable {
    /// Done before this run.
    let done: Set<String>
    /// App and environment.
    let place: String
    private let file: Mutex<FileHandle>

    /// Opens the file, or makes it. A last line that was cut off by a crash counts as not done.
    /// - Parameter place: app and environment; what is done in another one is not done in this.
    /// - Throws: `CommandError` also where the file is of another place, or another backfill is at it.
    init(at path: String, of place: String) throws {
        let file = try LockedFile.open(
            path, called: "the progress file \(path)", remedy: "name another with --progress",
            taken: "another backfill is at the progress file \(path); wait for it")
        let content = try file.readToEnd() ?? Data()
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        let whole = lines.dropLast().map(String.init)
        let heading = "# \(place)"
        guard whole.first ?? heading == heading else {
            throw CommandError(
                "the progress file \(path) is of another app or environment: it begins with "
                    + "\(whole[0].prefix(80).description.escaped) and not with \(heading); name another with --progress"
            )
        }
        if let torn = lines.last, !torn.isEmpty { try file.truncate(atOffset: UInt64(content.count - torn.utf8.count)) }
        if whole.isEmpty { try file.write(contentsOf: Data("\(heading)\n".utf8)) }
        done = Set(whole.dropFirst())
        self.place = place
        self.file = Mutex(file)
    }

    /// To be called when all that Apple knows of the customer is on the log.
    func note(_ id: String) throws {
        try file.withLock { file in
            try file.seekToEnd()
            try file.write(contentsOf: Data("\(id)\n".utf8))
        }
    }
}
