/// One value of the document: its place, and the place on the tape of the value after it.
///
/// Sixteen bytes, because a tape is made for every message. A container's children follow it directly; an object's
/// children are key, value, key, value.
struct JSONNode: Sendable {
    var kind: JSONKind
    /// The string contains at least one backslash, so its bytes are not its content.
    var isEscaped: Bool
    var start: UInt32
    var end: UInt32
    /// Index of the first node behind this value and everything in it.
    var next: UInt32
}

/// The six kinds of value of RFC 8259.
public enum JSONKind: UInt8, Sendable, Hashable {
    /// `{…}`
    case object
    /// `[…]`
    case array
    /// `"…"`
    case string
    /// An RFC 8259 number of any size; whether it fits an `Int64` or a `Double` is asked later.
    case number
    /// `true` or `false`
    case bool
    /// `null`
    case null
}

/// The document's bytes and its tape, shared by all values taken from it.
final class JSONStorage: Sendable {
    let bytes: [UInt8]
    let tape: [JSONNode]

    init(bytes: [UInt8], tape: [JSONNode]) {
        self.bytes = bytes
        self.tape = tape
    }
}
