import Digests
import Signatures
import StrictJSON

import struct Foundation.Date

/// One routine for every JWS: size, segments, header, path, signature, body, time, revocation.
///
/// The body is decoded only after the signature is verified, so nothing in it is used before; that is why the dates are checked
/// last, though a certificate is checked at the payload's own date. Safe for any number of threads.
final class PayloadProver: Sendable {
    /// A payload that Apple signed, and when; its app is not yet checked.
    struct Proof: Sendable {
        /// The payload's JSON.
        let document: JSONDocument
        /// The payload's own date; nil where it has none.
        let signedDate: Date?
        let header: HeaderProof
    }

    private let trust: TrustStore
    private let validator: ChainValidator
    let policy: VerificationPolicy
    private let revocations: RevocationRegister
    /// By the exact header segment; filled once a signature under the header was valid.
    private let headers: ProofCache<HeaderProof>
    /// By the certificates that matter. Any client can put Apple's certificates under a header of its own; without
    /// this each such header would cost a path verification.
    private let chains: ProofCache<ValidatedChain>
    /// Chains that failed, by the same digests.
    private let rejected: FailedChains
    /// Intermediates proven as part of a chain: a leaf that none of them signed is rejected without a path verification.
    private let intermediates: ProofCache<Certificate>

    init(trust: TrustStore, policy: VerificationPolicy, revocations: RevocationRegister) {
        self.trust = trust
        self.policy = policy
        self.revocations = revocations
        validator = ChainValidator(trust: trust)
        headers = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        chains = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        intermediates = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        rejected = FailedChains(capacity: policy.rememberedRejections)
    }

    /// Number of cached headers and chains; bounded whatever is sent.
    var cached: (headers: Int, chains: Int) { (headers.count, chains.count) }

    /// Number of cached failed chains; bounded likewise.
    var rejectedChains: Int { rejected.count }

    /// The chains under which a signature was valid recently.
    var provenChains: [ValidatedChain] { headers.all.map(\.chain) }

    /// - Parameters:
    ///   - dateFields: members with the signing date; the first that the payload has counts.
    ///   - hint: the proof of the envelope, whose header is usually the same.
    ///   - budget: for proving unknown chains; nil is unlimited.
    func prove(
        _ jws: ArraySlice<UInt8>, dateFields: [String], now: Date, hint: HeaderProof? = nil, budget: ChainBudget? = nil
    ) throws(VerificationFailure) -> Proof {
        guard jws.count <= policy.maximumBytes else {
            throw VerificationFailure(
                .oversized, "the payload has \(jws.count) bytes; the limit is \(policy.maximumBytes)")
        }
        guard let parts = CompactJWS(jws) else {
            throw VerificationFailure(.malformed, "not three segments separated by dots")
        }
        let known = proven(parts.header, now: now, hint: hint)
        let candidate = known == nil ? try candidate(parts.header, now: now, budget: budget) : nil
        guard let payload = Base64.decode(parts.payload, .url) else {
            throw VerificationFailure(.malformed, "the payload is not canonical base64url")
        }
        guard let signature = Base64.decode(parts.signature, .url) else {
            throw VerificationFailure(.malformed, "the signature is not canonical base64url")
        }
        guard signature.count == 64 else {
            throw VerificationFailure(.signature, "the signature has \(signature.count) bytes instead of 64")
        }
        var hash = known?.prefixHash ?? HeaderProof.prefixHash(of: parts.header)
        hash.update(parts.payload)
        // Before the chain, which takes twenty times as long: a forger without the leaf's key never gets that far.
        if let key = known?.chain.leafKey ?? candidate?.leafKey {
            guard key.isValid(signature: signature, overDigest: hash.digest()) else {
                throw VerificationFailure(
                    .signature, "the signature is not by the key of the leaf certificate; the payload was altered")
            }
        }
        if let known { return try judge(payload, header: known, dateFields: dateFields, now: now) }
        guard let candidate else { preconditionFailure("a header is known or a candidate") }
        let header = HeaderProof(chain: try chain(of: candidate, now: now, budget: budget), segment: parts.header)
        headers.insert(header, for: parts.header, now: now)
        return try judge(payload, header: header, dateFields: dateFields, now: now)
    }

    private func proven(_ segment: ArraySlice<UInt8>, now: Date, hint: HeaderProof?) -> HeaderProof? {
        if let hint, hint.segment[...].hasSameBytes(as: segment) { return hint }
        return headers.proof(for: segment, now: now)
    }

    /// From here on Apple signed it, and a failure is Apple's or of this deployment.
    private func judge(
        _ payload: [UInt8], header: HeaderProof, dateFields: [String], now: Date
    ) throws(VerificationFailure) -> Proof {
        let document: JSONDocument
        do {
            document = try JSONDocument(payload)
        } catch {
            throw VerificationFailure(.body, "signed, but not valid JSON: \(error)")
        }
        guard document.root.kind == .object else { throw VerificationFailure(.body, "signed, but not a JSON object") }
        var signedDate: Date?
        let dateField = dateFields.first { name in document.root[name].map { !$0.isNull } ?? false }
        if let dateField, let field = document.root[dateField] {
            guard let number = field.double else { throw VerificationFailure(.body, "\(dateField) is not a number") }
            signedDate = AppleDate.date(from: number)
        }
        do throws(VerificationFailure) {
            try judgeTime(header.chain, signedDate: signedDate, now: now)
            if let rejection = revocations.rejection(of: header.chain) { throw rejection }
        } catch {
            throw error.naming(NotificationEnvelope.bundleId(of: document.root))
        }
        return Proof(document: document, signedDate: signedDate, header: header)
    }

    private func judgeTime(_ chain: ValidatedChain, signedDate: Date?, now: Date) throws(VerificationFailure) {
        if let signedDate {
            guard signedDate <= now.addingTimeInterval(policy.maximumLead) else {
                throw VerificationFailure(
                    .notYetValid, "signed in the future by the local clock; check the clock of this machine")
            }
            guard signedDate >= now.addingTimeInterval(-policy.maximumAge) else {
                throw VerificationFailure(
                    .expiredAtSigning, "signed longer ago than is accepted; raise the maximum age to replay it")
            }
        }
        switch chain.standing(at: signedDate ?? now) {
        case .valid: return
        case .expired:
            throw VerificationFailure(.expiredAtSigning, "a certificate had expired when the payload was signed")
        case .notYetValid:
            throw VerificationFailure(.notYetValid, "a certificate was not valid yet when the payload was signed")
        }
    }

    /// What a header names, before a signature under it is verified.
    private enum Candidate {
        /// Proven already, under another header.
        case proven(ValidatedChain)
        case unknown(UnknownChain)

        /// Nil where the leaf's key is of another kind: path verification reports that.
        var leafKey: P256PublicKey? {
            switch self {
            case .proven(let chain): chain.leafKey
            case .unknown(let chain): chain.leaf.p256PublicKey
            }
        }
    }

    /// Certificates that were never proven and never rejected.
    private struct UnknownChain {
        let leaf: Certificate
        let intermediate: Certificate
        let offered: Certificate
        /// Of the certificates that matter.
        let digest: [UInt8]
    }

    /// In the order of what it costs: a rejected chain costs its digest, and one beyond the budget no more than that.
    private func candidate(
        _ segment: ArraySlice<UInt8>, now: Date, budget: ChainBudget?
    ) throws(VerificationFailure) -> Candidate {
        let header = try SignatureHeader(segment, policy: policy)
        // A third certificate that is not pinned plays no part, so it must not make a new entry either.
        var hash = SHA256Hash()
        for der in [header.leaf, header.intermediate] {
            hash.update(SHA256Hash.digest(der)[...])
        }
        let offeredDigest = SHA256Hash.digest(header.offeredRoot)
        if trust.pins(offeredDigest) { hash.update(offeredDigest[...]) }
        let digest = hash.digest()
        if let rejection = rejected.rejection(of: digest) { throw rejection }
        let offered = try certificate(header.offeredRoot, place: 2)
        if let chain = chains.proof(for: digest[...], now: now) { return .proven(chain) }
        guard budget?.isAvailable ?? true else { throw Self.deferred(digest) }
        return .unknown(
            UnknownChain(
                leaf: try certificate(header.leaf, place: 0),
                intermediate: try certificate(header.intermediate, place: 1),
                offered: offered, digest: digest))
    }

    private static func deferred(_ chain: [UInt8]) -> VerificationFailure {
        VerificationFailure(
            .chainDeferred, "the budget for unknown certificate chains is used up; it is verified later", chain: chain)
    }

    private func chain(
        of candidate: Candidate, now: Date, budget: ChainBudget?
    ) throws(VerificationFailure) -> ValidatedChain {
        let unknown: UnknownChain
        switch candidate {
        case .proven(let chain): return chain
        case .unknown(let chain): unknown = chain
        }
        guard budget?.take() ?? true else { throw Self.deferred(unknown.digest) }
        switch try validated(unknown, now: now) {
        case .success(let chain):
            chains.insert(chain, for: unknown.digest[...], now: now)
            intermediates.insert(unknown.intermediate, for: unknown.intermediate.sha256[...], now: now)
            return chain
        case .failure(let failure):
            let rejection = VerificationFailure(failure)
            rejected.insert(rejection, for: unknown.digest)
            throw rejection
        }
    }

    private func validated(
        _ candidate: UnknownChain, now: Date
    ) throws(VerificationFailure) -> Result<ValidatedChain, ChainFailure> {
        // A leaf that names another issuer is rejected by its name, at no cost.
        if let known = intermediates.proof(for: candidate.intermediate.sha256[...], now: now),
            candidate.leaf.issuer == known.subject, !candidate.leaf.isSigned(by: known)
        {
            return .failure(.untrusted("the leaf is not signed by the intermediate"))
        }
        do {
            return try validator.validate(
                leaf: candidate.leaf, intermediate: candidate.intermediate, offered: candidate.offered)
        } catch {
            throw VerificationFailure(.chainUntrusted, "the chain could not be verified: \(error)")
        }
    }

    private func certificate(_ der: [UInt8], place: Int) throws(VerificationFailure) -> Certificate {
        do {
            return try Certificate(der: der)
        } catch {
            throw VerificationFailure(.certificateMalformed, "x5c[\(place)]: \(error)")
        }
    }
}

extension VerificationFailure {
    /// What a failure of the chain means for a payload.
    init(_ failure: ChainFailure) {
        let reason: VerificationFailureReason =
            switch failure {
            case .untrusted, .basicConstraints: .chainUntrusted
            case .wrongLength, .pathLength: .chainLength
            case .keyUsage, .leafKey: .keyUsage
            case .missingExtension: .chainObjectIdentifier
            }
        let advice =
            reason == .chainUntrusted ? "; if the root is yours: STOREKEEPER_ROOT_FILES, or verify --root FILE" : ""
        self.init(reason, "\(failure)\(advice)")
    }
}
