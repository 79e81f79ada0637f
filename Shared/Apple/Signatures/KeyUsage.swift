/// What the key of a certificate may be used for (RFC 5280, 4.2.1.3).
public struct KeyUsage: OptionSet, Sendable, Hashable {
    /// The bits as OpenSSL numbers them.
    public let rawValue: UInt32

    /// From OpenSSL's bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Signing of payloads: neither certificates nor revocation lists.
    public static let digitalSignature = KeyUsage(rawValue: 0x80)
    /// Wrapping of keys. Not for signing; here so that a wrong usage has a name.
    public static let keyEncipherment = KeyUsage(rawValue: 0x20)
    /// Signing of certificates.
    public static let keyCertSign = KeyUsage(rawValue: 0x04)
    /// Signing of revocation lists.
    public static let crlSign = KeyUsage(rawValue: 0x02)
}
