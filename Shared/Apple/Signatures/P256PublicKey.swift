import Digests

/// A public key on NIST P-256 that checks signatures of the form JWS uses for ES256.
///
/// Keep it: creating one costs as much as several checks, and after some hundred checks it becomes twice as fast. Checking
/// is safe for any number of threads.
public struct P256PublicKey: Sendable {
    /// The point in X9.63 form: 4, then x and y of 32 bytes each.
    public let uncompressedPoint: [UInt8]
    private let handle: VerifyingKeyHandle

    /// Nil where the bytes are not an uncompressed point on the curve.
    public init?(uncompressedPoint point: [UInt8]) {
        guard point.count == 65, point.first == 4, let handle = VerifyingKeyHandle(uncompressedPoint: point) else {
            return nil
        }
        self.init(point: point, handle: handle)
    }

    init(point: [UInt8], handle: VerifyingKeyHandle) {
        uncompressedPoint = point
        self.handle = handle
    }

    /// Whether r‖s, exactly 64 bytes, signs these bytes with SHA-256.
    public func isValid(signature: [UInt8], over bytes: [UInt8]) -> Bool {
        isValid(signature: signature, overDigest: SHA256Hash.digest(bytes))
    }

    /// Whether r‖s, exactly 64 bytes, signs what has this SHA-256 digest.
    public func isValid(signature: [UInt8], overDigest digest: [UInt8]) -> Bool {
        handle.isValid(signature, overDigest: digest)
    }
}
