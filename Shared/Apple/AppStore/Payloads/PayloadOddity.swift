/// A field of which Apple signed a value that this build cannot make use of. The signed original keeps the value.
public struct PayloadOddity: Sendable, Hashable {
    /// What is odd about it.
    public enum Kind: String, Sendable, Hashable {
        /// One of an enumeration that was not documented when this was built; the payload holds it raw.
        case unknownValue
        /// Another kind of value than Apple documents; the payload holds nil.
        case unreadable
    }

    /// The name of the field, with those of the objects around it, by dots.
    public var field: String
    /// What is odd about it.
    public var kind: Kind

    /// - Parameter field: its path, in Apple's spelling.
    public init(field: String, kind: Kind) {
        self.field = field
        self.kind = kind
    }
}
