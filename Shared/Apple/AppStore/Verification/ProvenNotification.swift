import Signatures

import struct Foundation.Date
import struct Foundation.UUID

/// A notification whose signed contents are all proven: the envelope, and the objects inside it.
///
/// Only the verifier creates one.
public struct ProvenNotification: Sendable {
    /// The same in every delivery of this notification.
    public let notificationUUID: UUID
    /// Apple's type; this release may not know it.
    public let notificationType: String
    /// Apple's subtype; this release may not know it.
    public let subtype: String?
    /// An environment that the app accepts.
    public let environment: AppStoreEnvironment
    /// A configured app, or ``noApp``.
    public let bundleId: String
    /// Apple's number of the app; always present in production, except where this release does not know the object.
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

    /// The bundle id where nothing that Apple signed names an app. No bundle id can contain its characters.
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
