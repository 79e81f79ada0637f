import ArgumentParser
import Commands
import Foundation

/// A file of customers, read as a stream.
struct ImportFile {
    let pieces: FilePieces
    /// The columns as the user describes them; nil where the header is to tell.
    var columns: ImportColumns?

    /// One line or record.
    enum Content {
        case line([UInt8])
        case record(ImportRecord)
        /// It has another number of fields than the header.
        case malformed(String)
    }

    /// Reads all of it.
    /// - Parameters:
    ///   - begin: called once, before all records, with what the file is.
    ///   - each: called with every line that is not empty, and the number of its first line.
    /// - Throws: `ValidationError` where the file is of no known form; `CommandError` where it cannot be read to its end.
    func read(begin: (ImportShape) throws -> Void, each: (Content, _ line: Int) throws -> Void) throws {
        var lines = SeparatedLines()
        var values = SeparatedValues()
        var header: [String]?
        var shape: ImportShape?
        var isJSON: Bool?
        var hasBegun = false

        func take(_ line: [UInt8], _ number: Int) throws {
            let line = Array(line.withoutByteOrderMark)
            guard !line.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: "\r") })
            else { return }
            if !hasBegun { try begin(.jsonLines) }
            hasBegun = true
            try each(.line(line), number)
        }
        func take(_ record: SeparatedValues.Record) throws {
            guard let names = header else {
                let found = try ImportShape(header: record.fields, columns: columns, of: pieces.path)
                (header, shape) = (record.fields, found)
                hasBegun = true
                return try begin(found)
            }
            // Files that were put together have the header of each, and an export gets further columns over the years.
            if record.fields.first == names.first,
                let again = try? ImportShape(header: record.fields, columns: columns, of: pieces.path), again == shape
            {
                header = record.fields
                return
            }
            try each(
                record.fields.count == names.count
                    ? .record(ImportRecord(record, names))
                    : .malformed("\(record.fields.count) fields, where the header has \(names.count)"), record.line)
        }
        do {
            try pieces.read { piece in
                if isJSON == nil, columns == nil { isJSON = Self.isJSON(piece) }
                if isJSON == true {
                    for (number, line) in try lines.append(piece) { try take(line, number) }
                } else {
                    for record in try values.append(piece) { try take(record) }
                }
            }
            if isJSON == true, let (number, line) = lines.finish() { try take(line, number) }
            if isJSON != true, let record = try values.finish() { try take(record) }
        } catch let fault as SeparatedValues.Fault {
            throw CommandError("line \(fault.line) of \(pieces.path.escaped): \(fault.reason)")
        }
        guard hasBegun else { throw ValidationError("\(pieces.path.escaped) is empty") }
    }

    /// True for a file that begins with a JSON object.
    private static func isJSON(_ piece: Data) -> Bool {
        piece.first { !(UInt8(ascii: " ") == $0 || (9...13).contains($0)) } == UInt8(ascii: "{")
    }
}
