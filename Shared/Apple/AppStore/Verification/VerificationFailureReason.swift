/// Why a signed payload is rejected: metric label and header of the dead letter.
///
/// In the order in which the checks are made.
public enum VerificationFailureReason: String, Sendable, Hashable, CaseIterable {
    /// Longer than anything Apple sends.
    case oversized
    /// Not three segments of canonical base64url, or a header that is not the JSON object it must be.
    case malformed
    /// `alg` is not exactly ES256, or the header demands extensions that are not supported.
    case algorithm
    /// `x5c` has an entry that is not one certificate in strict DER, or one that is too long.
    case certificateMalformed = "certificate-malformed"
    /// Not three certificates, or not a path of three.
    case chainLength = "chain-length"
    /// The signature is not 64 bytes, or not by the key of the leaf.
    case signature
    /// No path to a trusted root.
    case chainUntrusted = "chain-untrusted"
    /// The chain is unknown and the budget for proving such chains is used up. Not final: it is proven later.
    case chainDeferred = "chain-deferred"
    /// A key is used for what its certificate does not allow, or is of the wrong kind.
    case keyUsage = "key-usage"
    /// A certificate lacks Apple's extension for its role.
    case chainObjectIdentifier = "chain-oid"
    /// Apple signed it, but it is not valid JSON, or not of the expected type.
    case body
    /// A certificate was no longer valid when the payload was signed, or that was too long ago.
    case expiredAtSigning = "expired-at-signing"
    /// A certificate was not valid yet when the payload was signed, or that is in the future.
    case notYetValid = "not-yet-valid"
    /// A certificate of the chain has been revoked.
    case revoked
    /// Its revocation could not be checked, and the configuration requires it.
    case revocationUnknown = "revocation-unknown"
    /// For an app that is not configured.
    case appUnknown = "app-unknown"
    /// For a configured bundle id, with another Apple id.
    case appMismatch = "app-mismatch"
    /// From an environment that the app does not accept.
    case environment
    /// A signed object inside contradicts the envelope or another one.
    case nestedMismatch = "nested-mismatch"

    /// Whether the failure was found after the signature was verified as Apple's.
    ///
    /// A forger never gets this far. Another developer does, with what Apple signed for that developer: see
    /// `VerificationFailure.concernsOwnApp` before concluding anything about this release.
    public var isProven: Bool {
        switch self {
        case .oversized, .malformed, .algorithm, .certificateMalformed, .chainLength, .chainUntrusted, .chainDeferred,
            .keyUsage, .chainObjectIdentifier, .signature:
            false
        case .body, .expiredAtSigning, .notYetValid, .revoked, .revocationUnknown, .appUnknown, .appMismatch,
            .environment, .nestedMismatch:
            true
        }
    }
}
