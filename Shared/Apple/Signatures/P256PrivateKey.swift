import Digests

/// A private key on NIST P-256: the simulator's leaf, or an account's key for Apple's API.
public struct P256PrivateKey: Sendable {
    let handle: PrivateKeyHandle

    /// A new key from OpenSSL's random number generator.
    public static func generate() throws(OpenSSLFailure) -> P256PrivateKey {
        P256PrivateKey(handle: try .generate(.p256))
    }

    /// Reads the first key of a PEM text, as Apple's `.p8` files are.
    ///
    /// - Throws: `OpenSSLFailure` where there is no unencrypted key in it, or not one on P-256.
    public init(pem: String) throws(OpenSSLFailure) {
        let handle = try PrivateKeyHandle.read(pem: Array(pem.utf8))
        guard handle.curve == "prime256v1" else { throw OpenSSLFailure("reading a P-256 key (it is of another kind)") }
        self.handle = handle
    }

    init(handle: PrivateKeyHandle) { self.handle = handle }

    /// PKCS#8 in PEM, unencrypted: store it readable by its owner only.
    public func pem() throws(OpenSSLFailure) -> String { try handle.pem() }

    /// The other half of the pair.
    public func publicKey() throws(OpenSSLFailure) -> P256PublicKey {
        let key = handle.publicPoint.flatMap { P256PublicKey(uncompressedPoint: $0) }
        return try OpenSSLFailure.unwrap(key, "deriving the public key")
    }

    /// r‖s, 64 bytes, over the SHA-256 of the bytes: the signature of ES256.
    public func signature(over bytes: [UInt8]) throws(OpenSSLFailure) -> [UInt8] {
        try signature(overDigest: SHA256Hash.digest(bytes))
    }

    /// r‖s over what has this SHA-256 digest.
    public func signature(overDigest digest: [UInt8]) throws(OpenSSLFailure) -> [UInt8] {
        try handle.rawSignature(overDigest: digest, width: 32)
    }

    /// Signs in DER, which JWS does not use; for tests of what must be rejected and for other protocols.
    public func derSignature(over bytes: [UInt8]) throws(OpenSSLFailure) -> [UInt8] {
        try handle.derSignature(overDigest: SHA256Hash.digest(bytes))
    }
}
