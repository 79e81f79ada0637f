/// The private key of a certificate, of the kinds that authorities and forgers use.
public struct IssuingKey: Sendable {
    /// Which kind of key to generate.
    public enum Kind: Sendable, Hashable {
        /// The kind of leaf certificates.
        case p256
        /// The kind of Apple's authorities.
        case p384
        /// For tests of what must be rejected.
        case rsa(bits: Int)
    }

    package let handle: PrivateKeyHandle

    /// A new key from OpenSSL's random number generator.
    public static func generate(_ kind: Kind) throws(OpenSSLFailure) -> IssuingKey {
        IssuingKey(handle: try .generate(kind))
    }

    /// Reads the first unencrypted key of a PEM text.
    public init(pem: String) throws(OpenSSLFailure) { handle = try .read(pem: Array(pem.utf8)) }

    /// A payload key in the role of a certificate's key.
    public init(_ key: P256PrivateKey) { handle = key.handle }

    private init(handle: PrivateKeyHandle) { self.handle = handle }

    /// PKCS#8 in PEM, unencrypted: store it readable by its owner only.
    public func pem() throws(OpenSSLFailure) -> String { try handle.pem() }
}
