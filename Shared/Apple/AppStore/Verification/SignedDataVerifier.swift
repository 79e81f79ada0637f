import Signatures
import StrictJSON

import struct Foundation.Date

/// Verifies everything that Apple signed; there is no other way in.
///
/// One routine for every kind of JWS, used wherever one arrives: from the webhook, from Apple's API, from the app. A result
/// is proven to be Apple's, and for a configured app; every other outcome is a `VerificationFailure` with its reason.
/// Needs no network. Safe for any number of threads: share one, because it caches proven certificates.
/// Trust, apps and policy never change; to reload them, create another.
public final class SignedDataVerifier: Sendable {
    private let prover: PayloadProver
    private let identity: IdentityCheck
    private let trust: TrustStore

    /// A verifier with an empty cache.
    ///
    /// - Parameter revocations: filled by the requests to OCSP responders; empty, it rejects nothing in soft mode.
    public init(
        trust: TrustStore, apps: AppRegistry, policy: VerificationPolicy = VerificationPolicy(),
        revocations: RevocationRegister = RevocationRegister()
    ) {
        prover = PayloadProver(trust: trust, policy: policy, revocations: revocations)
        identity = IdentityCheck(registry: apps)
        self.trust = trust
    }

    /// Number of cached headers and chains: bounded by the policy, whatever is sent.
    public var remembered: (headers: Int, chains: Int) { prover.cached }

    /// Number of cached failed chains: bounded likewise.
    public var rememberedRejections: Int { prover.rejectedChains }

    /// The chains with a recent valid signature, whose revocation is worth checking. A
    /// chain occurs once for each header; bounded like ``remembered``.
    public var provenChains: [ValidatedChain] { prover.provenChains }

    /// Proves a notification and everything signed inside it.
    ///
    /// - Parameters:
    ///   - now: for checking dates: the payload's own, or this where it has none.
    ///   - budget: for proving unknown chains; above it the failure is ``VerificationFailureReason/chainDeferred``.
    public func notification(
        _ jws: [UInt8], now: Date, budget: ChainBudget? = nil
    ) -> Result<ProvenNotification, VerificationFailure> {
        Result { () throws(VerificationFailure) in
            let proof = try prover.prove(jws[...], dateFields: ["signedDate"], now: now, budget: budget)
            return try notification(in: proof, now: now, budget: budget)
        }.mapError { $0.judged(by: identity.registry) }
    }

    /// Proves a transaction, from the app or from Apple's API.
    public func transaction(_ jws: [UInt8], now: Date) -> Result<
        Proven<JWSTransactionDecodedPayload>, VerificationFailure
    > {
        Result { () throws(VerificationFailure) in
            try transaction(in: prover.prove(jws[...], dateFields: ["signedDate"], now: now))
        }
    }

    /// Proves renewal info.
    ///
    /// It names no app: the check is only that some configured app accepts the environment. Compare the original
    /// transaction id with the transaction that came with it.
    public func renewalInfo(_ jws: [UInt8], now: Date) -> Result<
        Proven<JWSRenewalInfoDecodedPayload>, VerificationFailure
    > {
        Result { () throws(VerificationFailure) in
            try renewalInfo(in: prover.prove(jws[...], dateFields: ["signedDate"], now: now))
        }
    }

    /// Proves a notification, a transaction, renewal info or an app transaction, whichever it is by what Apple signed.
    ///
    /// Not for what clients post as a notification: customers have their signed transactions.
    /// - Parameter claimedApp: the app of renewal info; it names none itself, so without it such an object
    ///   is rejected.
    public func part(
        _ jws: [UInt8], claimedApp: String?, now: Date, budget: ChainBudget? = nil
    ) -> Result<ProvenPart, VerificationFailure> {
        Result { () throws(VerificationFailure) in
            let proof = try prover.prove(
                jws[...], dateFields: ["signedDate", "receiptCreationDate"], now: now, budget: budget)
            let root = proof.document.root
            if root["notificationType"] != nil {
                return .notification(try notification(in: proof, now: now, budget: budget))
            }
            if root["transactionId"] != nil { return .transaction(try ownTransaction(in: proof)) }
            if root["receiptType"] != nil { return .appTransaction(try appTransaction(in: proof)) }
            guard root["autoRenewStatus"] != nil || root["autoRenewProductId"] != nil else {
                throw VerificationFailure(
                    .body,
                    "signed, but neither a notification nor a transaction nor renewal info nor an app transaction"
                )
            }
            let renewal = try renewalInfo(in: proof)
            guard let claimedApp else {
                throw VerificationFailure(
                    .body, "renewal info names no app, and its sender did not either")
            }
            try checkIdentity(
                claimedApp, nil, renewal.value.environment, kind: "renewal information", namesAppAppleId: false)
            return .renewalInfo(renewal, bundleId: claimedApp)
        }
    }

    /// Reads a notification of version 1, of which nothing can be proven: only that it names a configured app.
    public func version1(_ body: [UInt8]) -> Result<Version1Notification, VerificationFailure> {
        Result { () throws(VerificationFailure) in try Version1Notification(body, identity: identity) }
    }

    /// Proves the purchase of the app itself.
    public func appTransaction(_ jws: [UInt8], now: Date) -> Result<Proven<AppTransaction>, VerificationFailure> {
        Result { () throws(VerificationFailure) in
            try appTransaction(in: prover.prove(jws[...], dateFields: ["receiptCreationDate"], now: now))
        }
    }

    /// Proves Apple's question which message a customer who is about to cancel is to see.
    ///
    /// It names the app by Apple's number alone.
    public func realtimeRequest(_ jws: [UInt8], now: Date) -> Result<Proven<RealtimeRequest>, VerificationFailure> {
        Result { () throws(VerificationFailure) in
            let proof = try prover.prove(jws[...], dateFields: ["signedDate"], now: now)
            var request: RealtimeRequest = try decode(proof)
            request.environment = request.environment.map(identity.environment)
            guard let number = request.appAppleId else {
                throw VerificationFailure(.body, "signed, but not a realtime request: it names no app")
            }
            guard let app = identity.registry.all.first(where: { $0.appAppleId == number }) else {
                throw VerificationFailure(
                    .appUnknown,
                    "for the app with the Apple id \(number), which is not configured; add it if it is yours")
            }
            try checkIdentity(
                app.bundleId, number, request.environment, kind: "a realtime request", namesAppAppleId: true)
            return Proven(request, proof)
        }
    }

    /// Proves an app receipt of StoreKit 1, however old it is: Apple is asked for its purchases.
    ///
    /// - Parameter bytes: PKCS#7, no longer than `VerificationPolicy.maximumBytes`.
    public func receipt(_ bytes: [UInt8], now: Date) -> Result<ProvenReceipt, VerificationFailure> {
        Result { () throws(VerificationFailure) in
            guard bytes.count <= prover.policy.maximumBytes else {
                throw VerificationFailure(
                    .oversized, "the receipt has \(bytes.count) bytes; the limit is \(prover.policy.maximumBytes)")
            }
            return try ProvenReceipt(bytes, trust: trust, identity: identity, now: now)
        }
    }

    private func notification(
        in proof: PayloadProver.Proof, now: Date, budget: ChainBudget?
    ) throws(VerificationFailure) -> ProvenNotification {
        do throws(VerificationFailure) {
            let envelope = try NotificationEnvelope(proof.document.root)
            let app = try identity.check(envelope)
            let contents = try NotificationContents(
                envelope.subject, of: app, in: proof, prover: prover, now: now, budget: budget)
            return ProvenNotification(envelope, of: app, contents, proof)
        } catch {
            throw error.judged(by: identity.registry)
        }
    }

    private func transaction(
        in proof: PayloadProver.Proof
    ) throws(VerificationFailure) -> Proven<JWSTransactionDecodedPayload> {
        var transaction: JWSTransactionDecodedPayload = try decode(proof)
        transaction.environment = transaction.environment.map(identity.environment)
        try checkIdentity(
            transaction.bundleId, nil, transaction.environment, kind: "a transaction", namesAppAppleId: false)
        return Proven(transaction, proof)
    }

    private func appTransaction(in proof: PayloadProver.Proof) throws(VerificationFailure) -> Proven<AppTransaction> {
        var transaction: AppTransaction = try decode(proof)
        transaction.receiptType = transaction.receiptType.map(identity.environment)
        try checkIdentity(
            transaction.bundleId, transaction.appAppleId, transaction.receiptType, kind: "an app transaction",
            namesAppAppleId: true)
        return Proven(transaction, proof)
    }

    /// An object on its own.
    private func ownTransaction(
        in proof: PayloadProver.Proof
    ) throws(VerificationFailure) -> Proven<JWSTransactionDecodedPayload> {
        let proven = try transaction(in: proof)
        guard proven.value.purchaseId?.isEmpty == false else {
            throw VerificationFailure(.body, "signed, but not a usable transaction: its transactionId is empty")
        }
        return proven
    }

    private func renewalInfo(
        in proof: PayloadProver.Proof
    ) throws(VerificationFailure) -> Proven<JWSRenewalInfoDecodedPayload> {
        var renewal: JWSRenewalInfoDecodedPayload = try decode(proof)
        renewal.environment = renewal.environment.map(identity.environment)
        guard renewal.originalTransactionId != nil, let environment = renewal.environment else {
            throw VerificationFailure(
                .body, "signed, but not renewal info: it names no subscription or environment")
        }
        guard identity.registry.accepts(environment) else {
            throw VerificationFailure(
                .environment, "no app accepts the environment \"\(environment.rawValue.prefix(64))\"")
        }
        return Proven(renewal, proof)
    }

    private func decode<Value: Payload>(_ proof: PayloadProver.Proof) throws(VerificationFailure) -> Value {
        do {
            return try Value(json: proof.document.root)
        } catch {
            throw VerificationFailure(.body, "signed, but \(error)")
        }
    }

    private func checkIdentity(
        _ bundleId: String?, _ appAppleId: Int64?, _ environment: AppStoreEnvironment?, kind: String,
        namesAppAppleId: Bool
    ) throws(VerificationFailure) {
        guard let bundleId, let environment else {
            throw VerificationFailure(
                .body, "signed, but not \(kind): it names no app or environment", bundleId: bundleId)
        }
        try identity.check(
            bundleId: bundleId, appAppleId: appAppleId, environment: environment, namesAppAppleId: namesAppAppleId)
    }
}
