/// A payload that Apple signed does not look as Apple documents it.
public struct PayloadFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member that is wrong; empty where the payload itself is.
    public let field: String
    /// What it should have been.
    public let expected: String

    /// A fault of one member.
    public init(field: String, expected: String) {
        self.field = field
        self.expected = expected
    }

    /// One sentence without any value of the payload.
    public var description: String {
        field.isEmpty ? "the payload is not \(expected)" : "the field \(field) is not \(expected)"
    }
}
