import Signatures
import Synchronization

/// What is known about the revocation of certificates; filled beside the pipeline, read in it.
///
/// Nothing is known at first, which is enough in soft mode. Safe from any thread.
public final class RevocationRegister: Sendable {
    /// What a responder answered about a certificate.
    public enum Standing: Sendable, Hashable {
        /// Not revoked, by an answer that is still valid.
        case good
        /// Revoked.
        case revoked
        /// No valid answer.
        case unknown
    }

    /// Whether a certificate of unknown status is rejected.
    public let isHard: Bool
    private let standings = Mutex<[[UInt8]: Standing]>([:])

    /// Without an answer about any certificate.
    public init(isHard: Bool = false) { self.isHard = isHard }

    /// Notes an answer, or that none is valid any more; takes effect with the next payload.
    public func note(_ standing: Standing, ofCertificate sha256: [UInt8]) {
        standings.withLock { $0[sha256] = standing }
    }

    /// Removes a certificate, which keeps the register small.
    public func forget(certificate sha256: [UInt8]) {
        standings.withLock { $0[sha256] = nil }
    }

    /// Leaf and intermediate are checked; a root is revoked by removing it from the trust store.
    func rejection(of chain: ValidatedChain) -> VerificationFailure? {
        let (leaf, intermediate) = standings.withLock { standings in
            if standings.isEmpty { return (Standing.unknown, Standing.unknown) }
            return (
                standings[chain.leaf.sha256] ?? .unknown, standings[chain.intermediate.sha256] ?? .unknown
            )
        }
        if leaf == .revoked || intermediate == .revoked {
            return VerificationFailure(
                .revoked, "a certificate of the chain has been revoked; do not trust its payloads")
        }
        if isHard, leaf == .unknown || intermediate == .unknown {
            return VerificationFailure(
                .revocationUnknown,
                "revocation of the chain could not be checked; restore access to the responder or use soft mode")
        }
        return nil
    }
}
