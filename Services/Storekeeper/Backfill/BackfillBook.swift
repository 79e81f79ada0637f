import Foundation
import Synchronization

/// Who is done, in a file of one id per line: what makes a backfill resumable.
final class BackfillBook: Sendable {
    /// Done before this run.
    let done: Set<String>
    private let file: Mutex<FileHandle>

    /// Opens the file, or makes it. A last line that was cut off by a crash counts as not done.
    init(at path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            guard FileManager.default.createFile(atPath: path, contents: nil) else {
                throw Failure("the progress file \(path) cannot be made; name another with --progress")
            }
        }
        guard let file = FileHandle(forUpdatingAtPath: path) else {
            throw Failure("the progress file \(path) cannot be read and written; name another with --progress")
        }
        let content = try file.readToEnd() ?? Data()
        let lines = String(decoding: content, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        done = Set(lines.dropLast().map(String.init))
        if let torn = lines.last, !torn.isEmpty { try file.truncate(atOffset: UInt64(content.count - torn.utf8.count)) }
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
