import Foundation

/// One log event, ready to be written.
///
/// Whatever it contains, it stays one line.
struct LogLine {
    let date: Date
    let level: Logger.Level
    let service: String
    let label: String
    let message: String
    let fields: [(key: String, value: Logger.MetadataValue)]

    /// `{"time":…,"level":…,"service":…,"logger":…,"message":…,"context":{…}}`; `context` only if there is any.
    var json: String {
        var line = "{\"time\":\"\(timestamp)\",\"level\":\"\(level)\",\"service\":"
        line.appendJSON(service)
        line += ",\"logger\":"
        line.appendJSON(label)
        line += ",\"message\":"
        line.appendJSON(message)
        if !fields.isEmpty {
            line += ",\"context\":{"
            for (index, field) in fields.enumerated() {
                if index > 0 { line += "," }
                line.appendJSON(field.key)
                line += ":"
                line.appendJSON(field.value)
            }
            line += "}"
        }
        return line + "}\n"
    }

    /// `2026-01-31T12:00:00.000Z warning ingest message key=value`.
    var text: String {
        var line = "\(timestamp) \(level) \(service) \(message.onOneLine)"
        for field in fields { line += " \(field.key.onOneLine)=\("\(field.value)".onOneLine)" }
        return line + "\n"
    }

    private var timestamp: String {
        date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
}

extension String {
    /// Control characters made visible: clients must not control an operator's terminal by what they send.
    fileprivate var onOneLine: String {
        guard unicodeScalars.contains(where: \.isControl) else { return self }
        return unicodeScalars.map { $0.isControl ? "\\u{\(String($0.value, radix: 16))}" : String($0) }.joined()
    }

    fileprivate mutating func appendJSON(_ text: String) {
        append("\"")
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": append("\\\"")
            case "\\": append("\\\\")
            case "\n": append("\\n")
            case "\t": append("\\t")
            case _ where scalar.isControl:
                let digits = String(scalar.value, radix: 16)
                append("\\u" + String(repeating: "0", count: 4 - digits.count) + digits)
            default: unicodeScalars.append(scalar)
            }
        }
        append("\"")
    }

    fileprivate mutating func appendJSON(_ value: Logger.MetadataValue) {
        switch value {
        case .string(let text): appendJSON(text)
        case .stringConvertible(let convertible): appendJSON(convertible.description)
        case .array(let values):
            append("[")
            for (index, value) in values.enumerated() {
                if index > 0 { append(",") }
                appendJSON(value)
            }
            append("]")
        case .dictionary(let values):
            append("{")
            for (index, entry) in values.sorted(by: { $0.key < $1.key }).enumerated() {
                if index > 0 { append(",") }
                appendJSON(entry.key)
                append(":")
                appendJSON(entry.value)
            }
            append("}")
        @unknown default: appendJSON("\(value)")
        }
    }
}

extension Unicode.Scalar {
    fileprivate var isControl: Bool { value < 0x20 || (0x7F...0x9F).contains(value) }
}
