/// Limits of a document.
///
/// The defaults fit everything Apple sends with an order of magnitude to spare. They are checked while reading, so a
/// hostile document is rejected at its first excess and not after it has been held in memory.
public struct JSONLimits: Sendable, Hashable {
    /// Maximum depth of nested arrays and objects.
    ///
    /// A document that is one bare value has depth 0.
    public var depth: Int
    /// The longest document, in bytes.
    ///
    /// Never more than 2 GiB whatever is given: positions are 32 bits wide.
    public var bytes: Int

    /// Limits other than the defaults, which fit Apple's payloads.
    public init(depth: Int = 16, bytes: Int = 16 << 20) {
        self.depth = depth
        self.bytes = min(bytes, Int(Int32.max))
    }
}
