import Contracts
import Digests
import Signatures

/// A notification as it is posted, with its entry in the record.
struct SignedNotification: Sendable {
    var app: App
    var entry: RunRecord.Notification
    var payload: SealedPayload
    var isToBeRepeated = false

    /// `{"signedPayload":"…"}`, the same bytes at every attempt; composed each time, because thousands may wait.
    var body: [UInt8] { NotificationSigner.body(signedPayload: payload.jws) }

    /// The entry with the digest of what is posted.
    var recordedEntry: RunRecord.Notification {
        var entry = entry
        let digest = SHA256Hash.digest(payload.jws)
        entry.payloadDigest = String(decoding: Base64.encode(digest, .url), as: UTF8.self)
        return entry
    }
}
