import struct Foundation.Date

/// Three certificates that `ChainValidator` has proven to be a chain to a trusted root.
public struct ValidatedChain: Sendable {
    /// Whether the chain is valid at a point in time.
    public enum Standing: Sendable, Hashable {
        /// Every certificate is valid.
        case valid
        /// One of them was no longer valid.
        case expired
        /// One of them was not valid yet.
        case notYetValid
    }

    /// Signs payloads.
    public let leaf: Certificate
    /// Signed the leaf.
    public let intermediate: Certificate
    /// The root of the configuration, or pinned.
    public let root: Certificate
    /// The leaf's key, prepared for use.
    public let leafKey: P256PublicKey
    /// The first second in which all three are valid.
    public let validFrom: Date
    /// The last second in which all three are valid.
    public let validUntil: Date

    init(leaf: Certificate, intermediate: Certificate, root: Certificate, leafKey: P256PublicKey) {
        self.leaf = leaf
        self.intermediate = intermediate
        self.root = root
        self.leafKey = leafKey
        validFrom = max(leaf.notBefore, intermediate.notBefore, root.notBefore)
        validUntil = min(leaf.notAfter, intermediate.notAfter, root.notAfter)
    }

    /// Checks all three certificates at one point in time.
    public func standing(at date: Date) -> Standing {
        if date < validFrom { return .notYetValid }
        return date > validUntil ? .expired : .valid
    }
}
