import AppStore
import Contracts
import Records
import Signatures
import StrictJSON

/// The readable contents of a dead letter. Unverified: a stage rejected it.
package struct DeadLetterContents: Sendable, Equatable {
    /// Lower case.
    package var notificationUUID: String?
    package var notificationType: String?
    package var environment: String?
    package var bundleId: String?
    /// The compact JWS, if there is one in it.
    package var signedPayload: [UInt8]?
    /// The payload as JSON.
    package var payload: [UInt8]?

    /// Reads a rejected record.
    package init(_ deadLetter: DeadLetter) {
        if Topics.unverified.contains(deadLetter.position.topic) {
            self.init(signedPayload: deadLetter.original.value)
        } else if let signedPayload = try? VerifiedNotification(deadLetter.original).signedPayload {
            self.init(signedPayload: signedPayload)
        } else {
            self.init(signedPayload: [])
            payload = Self.json(in: deadLetter.original.value)
        }
    }

    /// The JSON that the bytes are, or the payload of the compact JWS that they are; nil of any other.
    package static func json(in bytes: [UInt8]) -> [UInt8]? {
        (try? JSONDocument(bytes)).map { Array($0.root.rawBytes) } ?? DeadLetterContents(signedPayload: bytes).payload
    }

    /// Reads a posted body.
    package init(signedPayload: [UInt8]) {
        guard let jws = CompactJWS(signedPayload[...]) else { return }
        self.signedPayload = signedPayload
        payload = Base64.decode(jws.payload, .url).flatMap { try? JSONDocument($0) }.map { Array($0.root.rawBytes) }
        let unchecked = UncheckedNotification(signedPayload)
        notificationUUID = unchecked?.notificationUUID?.uuidString.lowercased()
        notificationType = unchecked?.notificationType
        environment = unchecked?.environment
        bundleId = unchecked?.bundleId
    }
}
