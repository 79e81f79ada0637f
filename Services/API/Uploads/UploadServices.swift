import AppStore
import Contracts

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
    /// Rejected parts of each key: the users of an app must not keep the prover busy.
    let rejections: RateLimiter
}
