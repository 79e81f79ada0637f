/// The records of a file of separated values (RFC 4180), read piece by piece. Pure.
///
/// The separator is the comma, semicolon or tab of which the first record has most outside of quotation marks. A field that does
/// not begin with a quotation mark is taken as it stands.
struct SeparatedValues {
    /// One record, which may span several lines.
    struct Record: Sendable, Equatable {
        /// Number of its first line, from 1.
        var line: Int
        var fields: [String]
    }

    /// Why the rest of the file cannot be read.
    struct Fault: Error, Equatable {
        /// Number of the line with which the record begins.
        var line: Int
        var reason: String
    }

    /// Longer than any receipt, shorter than what a file without line ends would take.
    static let longest = 8 << 20

    private var separator: UInt8?
    private var record: [UInt8] = []
    private var quotation = Quotation()
    private var line = 1
    private var begin = 1

    /// The records that are complete with these bytes; empty lines are none.
    mutating func append(_ bytes: some Sequence<UInt8>) throws(Fault) -> [Record] {
        var records: [Record] = []
        // One array for all bytes: an export has gigabytes.
        var marks = separators
        for byte in bytes {
            let isLineEnd = byte == UInt8(ascii: "\n")
            if isLineEnd { line += 1 }
            if isLineEnd, !quotation.isOpen {
                if let whole = taken() { records.append(whole) }
                marks = separators
            } else {
                record.append(byte)
                quotation.take(byte, marks)
            }
        }
        guard record.count <= Self.longest else {
            throw Fault(
                line: begin,
                reason: "the record is longer than \(Self.longest >> 20) MiB; is a quotation mark not closed?")
        }
        return records
    }

    private var separators: [UInt8] { separator.map { [$0] } ?? Self.marks }

    /// The last record, where no line end follows it.
    mutating func finish() throws(Fault) -> Record? {
        guard !quotation.isOpen else {
            throw Fault(line: begin, reason: "a quotation mark is not closed up to the end of the file")
        }
        return taken()
    }

    private mutating func taken() -> Record? {
        defer {
            record.removeAll(keepingCapacity: true)
            quotation = Quotation()
            begin = line
        }
        if record.last == UInt8(ascii: "\r") { record.removeLast() }
        let text = record.withoutByteOrderMark
        guard !text.isEmpty else { return nil }
        let mark = separator ?? Self.separator(of: text)
        separator = mark
        return Record(line: begin, fields: Self.fields(of: text, mark))
    }

    private static let marks = [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")]

    private static func separator(of header: ArraySlice<UInt8>) -> UInt8 {
        var counts: [UInt8: Int] = [:]
        var quotation = Quotation()
        for byte in header {
            if !quotation.isOpen { counts[byte, default: 0] += 1 }
            quotation.take(byte, marks)
        }
        return marks.max { counts[$0, default: 0] < counts[$1, default: 0] } ?? marks[0]
    }

    private static func fields(of record: ArraySlice<UInt8>, _ separator: UInt8) -> [String] {
        var fields: [String] = []
        var begin = record.startIndex
        var quotation = Quotation()
        let marks = [separator]
        for index in record.indices {
            if record[index] == separator, !quotation.isOpen {
                fields.append(text(record[begin..<index]))
                begin = index + 1
            }
            quotation.take(record[index], marks)
        }
        fields.append(text(record[begin...]))
        return fields
    }

    private static func text(_ field: ArraySlice<UInt8>) -> String {
        let mark = UInt8(ascii: "\"")
        guard field.first == mark, field.count > 1, field.last == mark else {
            return String(decoding: field, as: UTF8.self)
        }
        var (bytes, isFirst): ([UInt8], Bool) = ([], false)
        for byte in field.dropFirst().dropLast() {
            isFirst = byte == mark && !isFirst
            if byte != mark || isFirst { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the bytes of a record so far end within quotation marks. Those that open stand at the beginning of a field; doubled they
    /// close nothing.
    private struct Quotation {
        private enum Place {
            case beginning, unquoted, quoted, behindMark
        }

        private var place = Place.beginning
        var isOpen: Bool { place == .quoted }

        mutating func take(_ byte: UInt8, _ separators: [UInt8]) {
            let isMark = byte == UInt8(ascii: "\"")
            switch place {
            case .quoted: if isMark { place = .behindMark }
            case .beginning where isMark, .behindMark where isMark: place = .quoted
            case .beginning, .behindMark, .unquoted: place = separators.contains(byte) ? .beginning : .unquoted
            }
        }
    }
}
