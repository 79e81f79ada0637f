import AppStore
import Contracts
import Operations
import ServerAPI
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// What uploads and offers need beside the database.
struct UploadServices: Sendable {
    /// The verifier's own prover, with the roots and apps of the moment.
    let verifier: @Sendable () -> SignedDataVerifier
    /// Returns when Kafka has confirmed all of them.
    let record: @Sendable ([ReceivedNotification]) async throws -> Void
    /// Nil without API keys: then Apple is asked nothing and no offer is signed.
    var apple: APIClients?
    /// Nil unless configured: for receipts that cannot be proven by themselves.
    var verifyReceipt: VerifyReceiptClient?
    /// Whether Apple is told the account that a restore moved a purchase to.
    var setsAccountTokens = false
    /// False: an offer without a rule is signed, too.
    var needsOfferRule = true
    /// The age at which a signed copy is an old one, in seconds.
    var claimAge: Double = 72 * 3600
    /// Rejected parts of each key: the users of an app must not keep the prover busy.
    let rejections: RateLimiter<UUID>
    /// Questions to Apple that each key causes.
    let questions: QuestionBudget<UUID>
    /// Where parts are proven.
    var lane = WorkLane()

    /// Refuses a key whose uploads had too many parts rejected, before anything is proven or asked.
    func checkRejections(of key: ClientKey, at now: ContinuousClock.Instant) throws(Problem) {
        let decision = rejections.look(key.id, at: now)
        guard !decision.isAllowed else { return }
        throw .exhausted(
            key, "had \(rejections.quota) parts rejected within a minute", seconds: decision.seconds,
            "wait \(decision.seconds) s, and upload only what StoreKit signed")
    }

    /// An upload without parts.
    /// - Throws: `Problem` where the request assigns purchases and its key may not.
    func upload(of bundleId: String, device: UUID?, _ request: APIRequest, at now: Date) throws(Problem) -> Upload {
        let isAssigned = request.body?.root["assign"] != nil
        if isAssigned { try request.key.require(.purchasesAssign) }
        return Upload(
            bundleId: bundleId, environment: request.key.environment, device: device, claimAge: claimAge,
            isAssigned: isAssigned, verifier: verifier(), traceparent: request.trace.traceparent, now: now)
    }
}
