/// Why a document is rejected.
///
/// Positions are byte offsets from the start of the document.
public enum JSONFault: Error, Sendable, Hashable {
    /// The document is longer than `JSONLimits.bytes`.
    case tooLarge(limit: Int)
    /// RFC 8259 does not allow this byte here.
    ///
    /// A position equal to the length means that the document ends too early.
    case syntax(at: Int)
    /// Not UTF-8, or UTF-8 behind a byte order mark, or half of a surrogate pair.
    case encoding(at: Int)
    /// A NUL character in a string or key, written raw or as an escape: Postgres cannot store it, and C ends there.
    case nul(at: Int)
    /// Deeper than `JSONLimits.depth`.
    case depth(limit: Int)
    /// The same key twice in one object: two readers could take two different values.
    case duplicateKey(String)
    /// Something other than white space follows the value.
    case trailing(at: Int)
}

extension JSONFault: CustomStringConvertible {
    /// What is wrong and where, in one sentence that quotes no more than a key of the document.
    public var description: String {
        switch self {
        case .tooLarge(let limit): "JSON is longer than \(limit) bytes"
        case .syntax(let position): "JSON syntax error at byte \(position)"
        case .encoding(let position): "JSON is not valid UTF-8 at byte \(position)"
        case .nul(let position): "JSON string contains a NUL character at byte \(position)"
        case .depth(let limit): "JSON is nested deeper than \(limit) levels"
        case .duplicateKey(let key): "JSON object has the key \"\(key.prefix(64))\" twice"
        case .trailing(let position): "JSON value is followed by other bytes at byte \(position)"
        }
    }
}
