import Commands
import Foundation
import Operations
import Postgres
import Synchronization

/// The answers so far, in a file of their own, so that an interrupted run goes on where it stopped.
///
/// Lines of separated values, and after the records of each customer a line with `# ` and the customer's id; the first of those says what
/// is asked, and since when. What follows the last of them was interrupted, and is removed.
final class AskProgress: Sendable {
    private static let mark = Array("# ".utf8)

    /// Customers who were asked about before, by the bytes of their ids.
    let done: Set<[UInt8]>
    /// When the first customer of the file was asked about: the moment at which the answers are compared.
    let began: Date
    private let path: String
    private let columns: [String]
    private let file: Mutex<FileHandle>

    /// Opens or creates the file.
    /// - Parameters:
    ///   - place: system, app and environment.
    ///   - columns: of the records.
    /// - Throws: `CommandError` also where the file is of another place, or another process uses it.
    init(at path: String, of place: String, columns: [String], now: Date) throws {
        let file = try LockedFile.open(
            path, called: "the progress file \(path.escaped)", remedy: "choose another with --answers",
            taken: "another process writes \(path.escaped); wait until it ends")
        let beginning = "\(place) since "
        var heading: String?
        var done: Set<[UInt8]> = []
        var (length, whole) = (0, 0)
        var lines = SeparatedLines()
        try FilePieces(path: path).read { piece in
            for (_, line) in try lines.append(piece) {
                length += line.count + 1
                guard line.starts(with: AskProgress.mark) else { continue }
                whole = length
                let text = String(decoding: line.dropFirst(AskProgress.mark.count), as: UTF8.self)
                if heading == nil { heading = text } else { done.insert(text.exact) }
            }
        }
        if let heading {
            guard heading.hasPrefix(beginning), let seconds = Double(heading.dropFirst(beginning.count)) else {
                throw CommandError(
                    "the progress file \(path.escaped) is of something else: it begins with "
                        + "\(heading.prefix(80).description.escaped); choose another with --answers")
            }
            began = Date(timeIntervalSince1970: seconds)
            try file.truncate(atOffset: UInt64(whole))
            try file.seekToEnd()
        } else if length == 0 {
            let seconds = Int(now.timeIntervalSince1970.rounded(.down))
            began = Date(timeIntervalSince1970: Double(seconds))
            try file.truncate(atOffset: 0)
            try file.write(contentsOf: Data("# \(beginning)\(seconds)\n".utf8))
        } else {
            throw CommandError("\(path.escaped) is no progress file: choose another with --answers")
        }
        self.done = done
        self.path = path
        self.columns = columns
        self.file = Mutex(file)
    }

    /// Keeps what is known of a customer.
    /// - Throws: ``AnswerFault`` where a field has a line end; and where the file cannot be written.
    func note(_ customer: String, _ records: [AnsweredRecord]) throws {
        var text = ""
        for record in records { text += try Self.line(columns.map { record.fields[$0] ?? "" }) }
        text += "# \(customer)\n"
        let data = Data(text.utf8)
        try file.withLock { try $0.write(contentsOf: data) }
    }

    /// Writes the records into a file as old as the moment of the first question, and removes the progress.
    func finish(into output: String) throws {
        // A comparison of the directory leaves out what ends so.
        let unfinished = output + ".new.progress"
        let failure = CommandError("\(output.escaped) cannot be written: choose another with --answers")
        let header = try Self.line(columns)
        guard FileManager.default.createFile(atPath: unfinished, contents: Data(header.utf8)),
            let written = FileHandle(forUpdatingAtPath: unfinished)
        else { throw failure }
        try written.seekToEnd()
        var lines = SeparatedLines()
        try FilePieces(path: path).read { piece in
            var kept = Data()
            for (_, line) in try lines.append(piece) where !line.starts(with: Self.mark) {
                kept.append(contentsOf: line)
                kept.append(UInt8(ascii: "\n"))
            }
            try written.write(contentsOf: kept)
        }
        try written.close()
        try FileManager.default.setAttributes([.modificationDate: began], ofItemAtPath: unfinished)
        do { try FileManager.default.moveItem(atPath: unfinished, toPath: output) } catch { throw failure }
        try FileManager.default.removeItem(atPath: path)
    }

    private static func line(_ fields: [String]) throws(AnswerFault) -> String {
        var line: [String] = []
        for field in fields {
            guard !field.utf8.contains(where: { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") }) else {
                throw AnswerFault("the answer has a line end in an id")
            }
            let scalars = field.unicodeScalars
            let needsMarks = scalars.first == "#" || scalars.contains { $0 == "," || $0 == "\"" }
            line.append(needsMarks ? field.quoted(by: "\"", within: "\"\"") : field)
        }
        return line.joined(separator: ",") + "\n"
    }
}
