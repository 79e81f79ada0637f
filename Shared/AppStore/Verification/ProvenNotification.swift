import Signatures

import struct Foundation.Date
import struct Foundation.UUID

/// A notification of which everything signed in it is proven: the envelope, and what is signed inside it.
///
/// Only the verifier makes one.
public struct ProvenNotification: Sendable {
    /// The same in every delivery of this notification.
    public let notificationUUID: UUID
    /// Apple's word for what happened; perhaps one that we do not know.
    public let notificationType: String
    /// The variant; perhaps one that we do not know.
    public let subtype: String?
    /// One that the app accepts.
    public let environment: AppStoreEnvironment
    /// One of ours, or ``noApp``.
    public let bundleId: String
    /// Apple's number of the app; always there in production, except where this build does not know the object.
    public let appAppleId: Int64?
    /// The subscription or purchase that it is about; nil for tests, summaries, tokens and the app itself.
    public let originalTransactionId: String?
    /// The transaction that it is about.
    public let transactionId: String?
    /// The account that the app named at purchase, if it is a UUID.
    public let appAccountToken: UUID?
    /// When Apple signed the envelope; nil where it does not say.
    public let signedDate: Date?
    /// The certificates behind the envelope's signature.
    public let chain: ValidatedChain
    /// The envelope's JSON, with each JWS inside it replaced by the JSON that it signs, byte for byte.
    ///
    /// Read it with `DecodedNotification`.
    public let decoded: [UInt8]

    /// Stands for the app where nothing that Apple signed names one. No bundle identifier can hold its letters.
    public static let noApp = "(none)"

    init(
        _ envelope: NotificationEnvelope, of app: IdentityCheck.Identity, _ contents: NotificationContents,
        _ proof: PayloadProver.Proof
    ) {
        notificationUUID = envelope.uuid
        notificationType = envelope.type
        subtype = envelope.subtype
        environment = app.environment
        bundleId = app.bundleId
        appAppleId = envelope.subject?.appAppleId
        originalTransactionId = contents.originalTransactionId
        transactionId = contents.transactionId
        appAccountToken = contents.appAccountToken
        signedDate = proof.signedDate
        chain = proof.header.chain
        decoded = contents.spliced(into: proof.document.bytes)
    }
}
