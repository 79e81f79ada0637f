import Signatures
import StrictJSON

import struct Foundation.Date

/// One routine for every JWS: size, segments, header, path, signature, body, time, revocation.
///
/// The body is decoded only after the signature, so nothing in it is believed before; that is why the dates are judged
/// last, though a certificate is judged at the payload's own date. Safe from any number of threads at once.
final class PayloadProver: Sendable {
    /// A payload of which it is proven that Apple signed it, and when; not yet, for whom.
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
    /// By the certificates that matter. Anybody can put Apple's certificates under a header of his own making; without
    /// this each such header would cost a path verification.
    private let chains: ProofCache<ValidatedChain>
    /// Chains that were refused, by the same digests.
    private let refused: FailedChains
    /// Proven as part of a chain: a leaf that one of them did not sign needs no path verification to be refused.
    private let intermediates: ProofCache<Certificate>

    init(trust: TrustStore, policy: VerificationPolicy, revocations: RevocationRegister) {
        self.trust = trust
        self.policy = policy
        self.revocations = revocations
        validator = ChainValidator(trust: trust)
        headers = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        chains = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        intermediates = ProofCache(capacity: policy.cachedHeaders, lifetime: policy.cacheLifetime)
        refused = FailedChains(capacity: policy.rememberedRefusals)
    }

    /// How many headers and chains are kept; bounded whatever is sent.
    var cached: (headers: Int, chains: Int) { (headers.count, chains.count) }

    /// How many refused chains are remembered; bounded likewise.
    var refusedChains: Int { refused.count }

    /// The chains under which a signature was valid recently.
    var provenChains: [ValidatedChain] { headers.all.map(\.chain) }

    /// - Parameters:
    ///   - dateFields: Where the payload says when it was signed; the first that it has counts.
    ///   - hint: The proof of the envelope, whose header is usually the same.
    ///   - budget: For proving chains that are not known; nil is without end.
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
        let candidate = known == nil ? try candidate(parts.header, now: now) : nil
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
        // Before the chain, which takes twenty times as long: who did not sign with the leaf's key never gets that far.
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

    /// From here on Apple signed it, and what is wrong is Apple's doing or ours.
    private func judge(
        _ payload: [UInt8], header: HeaderProof, dateFields: [String], now: Date
    ) throws(VerificationFailure) -> Proof {
        let document: JSONDocument
        do {
            document = try JSONDocument(payload)
        } catch {
            throw VerificationFailure(.body, "signed, but not believable JSON: \(error)")
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
            if let refusal = revocations.refusal(of: header.chain) { throw refusal }
        } catch {
            throw error.naming(NotificationEnvelope.bundleId(of: document.root))
        }
        return Proof(document: document, signedDate: signedDate, header: header)
    }

    private func judgeTime(_ chain: ValidatedChain, signedDate: Date?, now: Date) throws(VerificationFailure) {
        if let signedDate {
            guard signedDate <= now.addingTimeInterval(policy.maximumLead) else {
                throw VerificationFailure(
                    .notYetValid, "signed in the future by our clock; check the clock of this machine")
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

    /// What a header names and is not proven.
    private struct Candidate {
        let header: SignatureHeader
        let offered: Certificate
        let leaf: Certificate
        /// Nil where the leaf's key is of another kind: path verification has the word for it.
        let leafKey: P256PublicKey?
        /// Of the certificates that matter.
        let digest: [UInt8]
    }

    private func candidate(_ segment: ArraySlice<UInt8>, now: Date) throws(VerificationFailure) -> Candidate {
        let header = try SignatureHeader(segment, policy: policy)
        let offered = try certificate(header.offeredRoot, place: 2)
        // A third certificate that is not pinned plays no part, so it must not make a new entry either.
        var hash = SHA256Hash()
        for der in [header.leaf, header.intermediate] {
            hash.update(SHA256Hash.digest(der)[...])
        }
        if trust.pins(offered.sha256) { hash.update(offered.sha256[...]) }
        let digest = hash.digest()
        let leaf = try certificate(header.leaf, place: 0)
        return Candidate(
            header: header, offered: offered, leaf: leaf, leafKey: leaf.p256PublicKey, digest: digest)
    }

    private func chain(of candidate: Candidate, now: Date, budget: ChainBudget?) throws(VerificationFailure)
        -> ValidatedChain
    {
        if let chain = chains.proof(for: candidate.digest[...], now: now) { return chain }
        if let refusal = refused.refusal(of: candidate.digest) { throw refusal }
        let intermediate = try certificate(candidate.header.intermediate, place: 1)
        guard budget?.take() ?? true else {
            throw VerificationFailure(
                .chainUnproven, "the budget for unknown certificate chains is used up; it is proven later")
        }
        switch try validated(candidate, intermediate, now: now) {
        case .success(let chain):
            chains.insert(chain, for: candidate.digest[...], now: now)
            intermediates.insert(intermediate, for: intermediate.sha256[...], now: now)
            return chain
        case .failure(let failure):
            let refusal = VerificationFailure(failure)
            refused.insert(refusal, for: candidate.digest)
            throw refusal
        }
    }

    private func validated(
        _ candidate: Candidate, _ intermediate: Certificate, now: Date
    ) throws(VerificationFailure) -> Result<ValidatedChain, ChainFailure> {
        // A leaf that names another issuer is refused by its name, at no cost.
        if let known = intermediates.proof(for: intermediate.sha256[...], now: now),
            candidate.leaf.issuer == known.subject, !candidate.leaf.isSigned(by: known)
        {
            return .failure(.untrusted("the leaf is not signed by the intermediate"))
        }
        do {
            return try validator.validate(
                leaf: candidate.leaf, intermediate: intermediate, offered: candidate.offered)
        } catch {
            throw VerificationFailure(.chainUntrusted, "the chain could not be judged: \(error)")
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
