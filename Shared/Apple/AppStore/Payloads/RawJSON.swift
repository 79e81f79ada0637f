/// JSON that we carry and do not interpret, byte for byte.
public struct RawJSON: Sendable, Hashable {
    /// The source text of one JSON value.
    public let bytes: [UInt8]

    /// As Apple sent it, byte for byte.
    public var text: String { String(decoding: bytes, as: UTF8.self) }

    /// The caller vouches that it is one JSON value.
    public init(_ bytes: [UInt8]) { self.bytes = bytes }
}
