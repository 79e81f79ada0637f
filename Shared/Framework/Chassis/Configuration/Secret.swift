import struct Foundation.Data
import struct Foundation.URL

/// A secret that was read from a file.
///
/// It prints as `(hidden)` wherever it is interpolated, logged or dumped.
public struct Secret: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret itself, without the line break at its end.
    ///
    /// The name is long so that its use is seen in review.
    public let revealedBytes: [UInt8]

    /// For tests, and for a secret that is not from a file.
    public init(revealing bytes: [UInt8]) {
        revealedBytes = bytes
    }

    /// Never the secret.
    public var description: String { "(hidden)" }
    /// Never the secret.
    public var debugDescription: String { "(hidden)" }
    /// Empty, so that `dump` does not show the secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Variable where Value == Secret {
    /// A secret by the path of its file; the name must end in `_FILE`.
    ///
    /// Never by value: environments appear in process lists, crash reports and orchestrators' consoles.
    public static func secretFile(_ name: String, _ meaning: String) -> Variable {
        precondition(name.hasSuffix("_FILE"), "\(name) holds a path to a secret, so its name must end in _FILE")
        return Variable(
            name: name, meaning: meaning, defaultText: nil, isOptional: false, isSecret: false
        ) { environment throws(ConfigurationProblem) in
            guard let path = environment.text(of: name) else { throw .missing(name: name, meaning: meaning) }
            guard let data = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
                throw .unusable(
                    name: name,
                    reason: "names \(path), which cannot be read; check that it is there and that this user may read it"
                )
            }
            var bytes = [UInt8](data)
            while let last = bytes.last, last == UInt8(ascii: "\n") || last == UInt8(ascii: "\r") { bytes.removeLast() }
            guard !bytes.isEmpty else { throw .unusable(name: name, reason: "names \(path), which is empty") }
            return Secret(revealing: bytes)
        }
    }
}

/// Hides secrets in a setting's text.
public enum Redaction {
    /// `postgres://user:(hidden)@host/…` for a URL with a password before its host; nothing of a text that names a
    /// password elsewhere, as `host=… password=…` does, or may hold one in the wrong place; any other
    /// text unchanged.
    public static func withoutPassword(_ text: String) -> String {
        guard !text.contains(/(?i)password\s*=/) else { return "(hidden)" }
        guard let scheme = text.range(of: "://") else { return text.contains(/:.*@/) ? "(hidden)" : text }
        let authority = text[scheme.upperBound...].prefix { $0 != "/" }
        guard let at = authority.lastIndex(of: "@") else {
            // A password with a slash in it: no port looks like that.
            return text[scheme.upperBound...].contains(/:[^0-9\/][^:]*@/) ? "(hidden)" : text
        }
        guard let colon = authority[..<at].firstIndex(of: ":") else { return text }
        return text[...colon] + "(hidden)" + text[at...]
    }
}
