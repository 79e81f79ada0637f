import Contracts
import Foundation
import Synchronization

/// Writes the run record, in the format of ``RunRecord``.
///
/// Each line is handed to the operating system before the call returns, so that a killed simulator loses none. Not
/// synchronized to the disk: it survives a killed process, not a power failure.
final class RunRecordWriter: Sendable {
    private let file: Mutex<FileHandle>

    /// Opens a run record to append to, or creates it.
    /// - Throws: if the file cannot be opened for writing.
    init(path: String) throws {
        if !FileManager.default.fileExists(atPath: path) {
            try Data().write(to: URL(fileURLWithPath: path))
        }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        try Self.removeTornLine(from: file)
        self.file = Mutex(file)
    }

    func write(_ line: RunRecord.Line) throws {
        let bytes = line.encoded
        try file.withLock { try $0.write(contentsOf: bytes) }
    }

    func close() throws { try file.withLock { try $0.close() } }

    /// Removes the end of a line that a kill cut off, which would spoil the next line.
    private static func removeTornLine(from file: FileHandle) throws {
        let end = try file.seekToEnd()
        let length = min(end, 65_536)
        try file.seek(toOffset: end - length)
        guard let tail = try file.readToEnd(), tail.last != UInt8(ascii: "\n") else { return }
        let kept = tail.lastIndex(of: UInt8(ascii: "\n")).map { $0 - tail.startIndex + 1 } ?? 0
        try file.truncate(atOffset: end - length + UInt64(kept))
        try file.seekToEnd()
    }
}
