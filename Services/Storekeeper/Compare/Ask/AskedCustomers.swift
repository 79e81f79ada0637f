import ArgumentParser
import Commands
import Foundation
import Operations

/// The ids of the customers whom another system is asked about, each once, in order.
struct AskedCustomers {
    let ids: [String]

    /// - Throws: `CommandError` where the file cannot be read; `ValidationError` with the first lines that cannot be ids: a wrong file must
    ///   not become a thousand requests.
    init(_ pieces: FilePieces) throws {
        var lines = SeparatedLines()
        var ids: [String] = []
        var seen: Set<[UInt8]> = []
        var problems: [Int] = []
        func take(_ line: [UInt8], _ number: Int) {
            let id = String(decoding: line.withoutByteOrderMark, as: UTF8.self).trimmingCharacters(
                in: .whitespacesAndNewlines)
            guard !id.isEmpty else { return }
            // Bytes that are no UTF-8 have become U+FFFD. The last ones would lead to another place of the API.
            let isUnusable = id.unicodeScalars.contains { $0.value < 32 || $0.value == 0xFFFD }
            if id.utf8.count > 255 || isUnusable || id == "." || id == ".." {
                problems.append(number)
            } else if seen.insert(id.exact).inserted {
                ids.append(id)
            }
        }
        do {
            try pieces.read { piece in
                for (number, line) in try lines.append(piece) { take(line, number) }
            }
        } catch let fault as SeparatedValues.Fault {
            throw CommandError("line \(fault.line) of \(pieces.path.escaped): \(fault.reason)")
        }
        if let (number, line) = lines.finish() { take(line, number) }
        guard problems.isEmpty else {
            throw ValidationError(
                "\(problems.count.counted("line is no id", "lines are no ids")) of a customer: "
                    + problems.prefix(3).map { "line \($0)" }.joined(separator: ", "))
        }
        guard !ids.isEmpty else { throw ValidationError("\(pieces.path.escaped) has no ids of customers") }
        self.ids = ids
    }
}
