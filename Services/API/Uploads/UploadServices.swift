import AppStore
import Contracts

/// What uploads and offers need beside the database.
struct UploadServices: Sendable {
    /// The verifier's own prover, with the same roots and apps.
    let verifier: SignedDataVerifier
    /// Returns when Kafka has confirmed all of them.
    let record: @Sendable ([ReceivedNotification]) async throws -> Void
    /// Nil without API keys: then Apple is asked nothing and no offer is signed.
    var apple: APIClients?
    /// Refused parts of each key: the users of an app must not keep the prover busy.
    let refusals: RateLimiter
}
