/// The limits within which a signed payload is read.
public struct VerificationPolicy: Sendable {
    /// The longest JWS, in bytes.
    public var maximumBytes = 1 << 20
    /// The longest certificate, in bytes of DER.
    public var maximumCertificateBytes = 4096
    /// Maximum age of a payload by its own date, in seconds. History goes back 180 days.
    public var maximumAge = 400 * 86_400.0
    /// How far in the future a payload's own date may be, in seconds: clocks differ.
    public var maximumLead = 86_400.0
    /// Number of cached headers. Apple signs with a handful of certificates at a time.
    public var cachedHeaders = 64
    /// Number of cached failed chains.
    public var rememberedRejections = 16_384
    /// How long a proven header is cached, in seconds.
    public var cacheLifetime = 3600.0

    /// The defaults, each of which can be changed.
    public init() {}
}
