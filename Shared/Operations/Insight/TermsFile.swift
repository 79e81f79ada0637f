/// The lines of a file of rates or taxes: fields separated by commas, without quotation marks.
enum TermsFile {
    struct Line: Sendable, Equatable {
        /// From 1.
        var number: Int
        /// One field for each name of the file.
        var fields: [String]
    }

    /// - Parameter names: of the fields; a first line of them is left out, as are empty lines.
    /// - Throws: `OperationError` where a line has another number of fields, or there are more lines than `longest`.
    static func lines(of text: String, names: [String], longest: Int) throws(OperationError) -> [Line] {
        var lines: [Line] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let fields = line.split(separator: ",", omittingEmptySubsequences: false).map { Self.trimmed($0) }
            guard fields != [""], index > 0 || fields != names else { continue }
            guard fields.count == names.count else {
                throw OperationError(
                    "line \(index + 1) has \(fields.count) fields; it needs \(names.joined(separator: ","))",
                    .invalid("file"))
            }
            guard lines.count < longest else {
                throw OperationError("the file has more than \(longest) lines", .invalid("file"))
            }
            lines.append(Line(number: index + 1, fields: fields))
        }
        return lines
    }

    /// A field without white space at its ends, and the mark with which some programs begin a file.
    private static func trimmed(_ field: Substring) -> String {
        let isKept = { (scalar: Unicode.Scalar) in !scalar.properties.isWhitespace && scalar != "\u{feff}" }
        let scalars = field.unicodeScalars
        guard let first = scalars.firstIndex(where: isKept), let last = scalars.lastIndex(where: isKept) else {
            return ""
        }
        return String(scalars[first...last])
    }

    /// A decimal number as a whole number of its last allowed digit; nil for any other text, a sign included.
    /// - Parameter digits: at most so many after the point.
    static func decimal(_ text: String, digits: Int) -> Int64? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let fraction = parts.count == 2 ? String(parts[1]) : ""
        guard let whole = parts.first, (1...2).contains(parts.count), !whole.isEmpty, fraction.count <= digits,
            parts.count == 1 || !fraction.isEmpty,
            (String(whole) + fraction).utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int64(String(whole) + fraction + String(repeating: "0", count: digits - fraction.count))
    }

    /// True for a text of three capital letters.
    static func isCode(_ text: String) -> Bool {
        text.utf8.count == 3 && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }
    }
}

/// ISO 4217 codes.
enum CurrencyCode {
    /// - Parameter name: where the text is from.
    /// - Throws: `OperationError` where it is no code.
    static func check(_ text: String, _ name: String) throws(OperationError) {
        guard TermsFile.isCode(text) else {
            throw OperationError("\(name): “\(text.prefix(50))” is no currency such as EUR", .invalid(name))
        }
    }
}

/// The source of rates or taxes, as the operator names it.
enum SourceName {
    /// Unicode scalars.
    private static let longest = 200

    /// - Throws: `OperationError` where the name is empty, too long or of several lines.
    static func checked(_ text: String) throws(OperationError) -> String {
        guard !text.isEmpty, text.unicodeScalars.count <= longest, !text.contains(where: \.isNewline) else {
            throw OperationError(
                "the source is no name of one line of at most \(longest) characters", .invalid("source"))
        }
        return text
    }
}
