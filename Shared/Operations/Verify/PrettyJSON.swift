import StrictJSON

/// Pretty-printed JSON that keeps the order of members and the spelling of numbers.
package struct PrettyJSON {
    package private(set) var text = ""

    /// Nil where the bytes are not JSON.
    package init?(_ bytes: [UInt8]) {
        guard let document = try? JSONDocument(bytes) else { return nil }
        write(document.root, indentation: "")
    }

    private mutating func write(_ value: JSONValue, indentation: String) {
        let inner = indentation + "  "
        switch value.kind {
        case .object where !value.members.isEmpty:
            text += "{\n"
            for (index, member) in value.members.enumerated() {
                text += index > 0 ? ",\n" : ""
                text += inner + Self.quoted(member.key) + ": "
                write(member.value, indentation: inner)
            }
            text += "\n" + indentation + "}"
        case .array where !value.elements.isEmpty:
            text += "[\n"
            for (index, element) in value.elements.enumerated() {
                text += (index > 0 ? ",\n" : "") + inner
                write(element, indentation: inner)
            }
            text += "\n" + indentation + "]"
        default:
            text += String(decoding: value.rawBytes, as: UTF8.self).escaped
        }
    }

    private static func quoted(_ key: String) -> String {
        var writer = JSONWriter()
        writer.beginArray()
        writer.element(key)
        writer.endArray()
        return String(decoding: writer.bytes.dropFirst().dropLast(), as: UTF8.self).escaped
    }
}
