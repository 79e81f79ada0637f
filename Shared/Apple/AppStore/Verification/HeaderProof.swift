import Digests
import Signatures

/// A header whose chain is proven, prepared for its payloads.
struct HeaderProof: Sendable {
    /// The proven chain with the key of its leaf.
    let chain: ValidatedChain
    /// SHA-256 over the header segment and the dot after it: the hash of every payload under it begins there.
    let prefixHash: SHA256Hash
    /// The header segment, for comparing nested objects with their envelope without a lookup.
    let segment: [UInt8]

    init(chain: ValidatedChain, segment: ArraySlice<UInt8>) {
        self.chain = chain
        self.segment = Array(segment)
        prefixHash = Self.prefixHash(of: segment)
    }

    static func prefixHash(of segment: ArraySlice<UInt8>) -> SHA256Hash {
        var hash = SHA256Hash()
        hash.update(segment)
        hash.update([UInt8(ascii: ".")])
        return hash
    }
}
