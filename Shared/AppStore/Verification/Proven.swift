import Signatures

import struct Foundation.Date

/// A payload of which it is proven that Apple signed it, for one of our apps and an environment that app accepts.
///
/// Only the verifier makes one.
public struct Proven<Value: Payload>: Sendable {
    /// The payload.
    public let value: Value
    /// The exact JSON that was signed.
    public let decoded: [UInt8]
    /// When Apple signed it; nil where the payload does not say.
    public let signedDate: Date?
    /// The certificates behind the signature.
    public let chain: ValidatedChain

    init(_ value: Value, _ proof: PayloadProver.Proof) {
        self.value = value
        decoded = proof.document.bytes
        signedDate = proof.signedDate
        chain = proof.header.chain
    }
}
