import Contracts
import Hummingbird

import struct Foundation.UUID

/// A request of a person who may make it.
struct ConsoleRequest: Sendable {
    let path: String
    /// Decoded parameters of the path.
    let parameters: [String: String]
    /// Decoded; the first of equal names.
    let query: [String: String]
    /// Fields of the form, decoded; empty for GET.
    let form: [String: String]
    /// Nil on pages for people who are not signed in.
    let identity: Identity?
    /// For forms.
    let token: String
    /// Of a sign-in by the provider that this browser began.
    let attempt: String?
    /// True where the browser says that a page of another site led here.
    var isFromElsewhere = false
    /// The fault in the form of this page; nil where none was sent.
    var rejection: Rejection?

    var role: Role { identity?.role ?? .viewer }
    var name: String { identity?.name ?? "" }
    var masking: Masking { Masking(role: role) }

    /// A text of the query; nil where it is missing or empty.
    func text(_ name: String) -> String? {
        query[name].flatMap { $0.isEmpty ? nil : $0 }
    }

    func environment() throws -> StoreEnvironment {
        guard let environment = StoreEnvironment(rawValue: parameters["environment"] ?? "") else {
            throw Fault.notFound("There is no such environment.")
        }
        return environment
    }

    func uuid(_ name: String) throws -> UUID {
        guard let uuid = UUID(uuidString: parameters[name] ?? "") else {
            throw Fault.notFound("The address names no id.")
        }
        return uuid
    }

    /// A value of the form without white space.
    /// - Parameter words: what it is, for the person.
    func word(_ name: String, _ words: String) throws -> String {
        let text = (form[name] ?? "").filter { !$0.isWhitespace }
        guard (1...255).contains(text.utf8.count) else {
            throw Fault(422, "Nothing was done: \(words) is missing.", "Give it.", field: name)
        }
        return text
    }

    /// Whether the page says what the operation would do, and nothing is changed.
    var isDryRun: Bool { form["step"] == "plan" }
}

/// Decodes queries and forms (`application/x-www-form-urlencoded`).
enum FormFields {
    /// - Returns: nil where it is not percent-encoded UTF-8, or holds a NUL, which no text of ours has.
    static func decode(_ encoded: Substring) -> [String: String]? {
        var fields: [String: String] = [:]
        for pair in encoded.split(separator: "&").prefix(100) {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = text(parts[0]), let value = text(parts.count > 1 ? parts[1] : "") else { return nil }
            fields[name] = fields[name] ?? value
        }
        return fields
    }

    static func text(_ encoded: Substring) -> String? {
        guard let text = encoded.replacing("+", with: "%20").removingPercentEncoding, !text.utf8.contains(0) else {
            return nil
        }
        return text
    }

    /// For a value in an address.
    static func encode(_ value: String) -> String {
        var encoded = ""
        for byte in value.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
                encoded.unicodeScalars.append(UnicodeScalar(byte))
            default: encoded += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return encoded
    }

    /// `?a=b&c=d` of those that have a value; empty for none.
    static func query(_ fields: [(String, String?)]) -> String {
        let pairs = fields.compactMap { name, value in value.map { "\(name)=\(encode($0))" } }
        return pairs.isEmpty ? "" : "?" + pairs.joined(separator: "&")
    }
}
