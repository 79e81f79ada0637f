import Signatures

import struct Foundation.Date

/// A payload that Apple signed, for a configured app and an environment that the app accepts.
///
/// Only the verifier creates one.
public struct Proven<Value: Payload>: Sendable {
    /// The payload, decoded from ``decoded``.
    public let value: Value
    /// The exact JSON that was signed.
    public let decoded: [UInt8]
    /// When Apple signed it; nil where the payload does not say.
    public let signedDate: Date?
    /// The certificates of the signature.
    public let chain: ValidatedChain

    init(_ value: Value, _ proof: PayloadProver.Proof) {
        self.value = value
        decoded = proof.document.bytes
        signedDate = proof.signedDate
        chain = proof.header.chain
    }
}
