/// The limits within which a signed payload is looked at.
public struct VerificationPolicy: Sendable {
    /// The longest JWS, in bytes.
    public var maximumBytes = 1 << 20
    /// The longest certificate, in bytes of DER.
    public var maximumCertificateBytes = 4096
    /// How old a payload may be by its own date, in seconds. History reaches back 180 days.
    public var maximumAge = 400 * 86_400.0
    /// How far in the future a payload's own date may lie, in seconds: clocks differ.
    public var maximumLead = 86_400.0
    /// How many proven headers are kept. Apple signs with a handful of certificates at a time.
    public var cachedHeaders = 64
    /// How many refused chains are remembered.
    public var rememberedRefusals = 4096
    /// How long a proven header is kept, in seconds, before it is proven anew.
    public var cacheLifetime = 3600.0

    /// The defaults, each of which can be changed.
    public init() {}
}
