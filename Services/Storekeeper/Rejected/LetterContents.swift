import AppStore
import Contracts
import StrictJSON

/// What a dead letter says of itself, as far as it can be read. Nothing of it is proven: it was refused.
struct LetterContents: Sendable, Equatable {
    /// Lower case.
    var notificationUUID: String?
    var notificationType: String?
    var environment: String?
    var bundleId: String?
    /// The compact JWS, if there is one in it.
    var signedPayload: [UInt8]?
    /// The payload as JSON.
    var payload: [UInt8]?

    /// Of a record that a stage refused.
    init(_ letter: DeadLetter) {
        if letter.position.topic == Topics.received.name {
            self.init(signedPayload: letter.original.value)
        } else if let notification = try? VerifiedNotification(letter.original) {
            self.init(signedPayload: notification.signedPayload)
        } else {
            self.init(signedPayload: [])
            payload = (try? JSONDocument(letter.original.value)).map { Array($0.root.rawBytes) }
        }
    }

    /// Of what somebody posted.
    init(signedPayload: [UInt8]) {
        guard let jws = CompactJWS(signedPayload[...]) else { return }
        self.signedPayload = signedPayload
        payload = Base64.decode(jws.payload, .url).flatMap { try? JSONDocument($0) }.map { Array($0.root.rawBytes) }
        let claim = UncheckedNotification(signedPayload)
        notificationUUID = claim?.notificationUUID?.uuidString.lowercased()
        notificationType = claim?.notificationType
        environment = claim?.environment
        bundleId = claim?.bundleId
    }
}
