/// What a document may cost before it is refused.
///
/// The defaults fit everything Apple sends with an order of magnitude to spare. They are checked while reading, so a
/// hostile document is refused at its first excess and not after it has been held in memory.
public struct JSONLimits: Sendable, Hashable {
    /// How many arrays and objects may stand inside one another.
    ///
    /// A document that is one bare value has depth 0.
    public var depth: Int
    /// The longest document, in bytes.
    ///
    /// Never more than 2 GiB whatever is asked for: positions are 32 bits wide.
    public var bytes: Int

    /// Limits of your own; each has a default that fits Apple's payloads.
    public init(depth: Int = 16, bytes: Int = 16 << 20) {
        self.depth = depth
        self.bytes = min(bytes, Int(Int32.max))
    }
}
