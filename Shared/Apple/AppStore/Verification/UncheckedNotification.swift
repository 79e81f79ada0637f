import Signatures
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// What a payload claims to be, without any proof: for finding a notification, never for using it.
///
/// Any client can write any of it. What is shown of it (a row in a list, a log message) must hold for a
/// forgery, too.
public struct UncheckedNotification: Sendable, Hashable {
    /// Nil where it names none; transactions and the like do not.
    public let notificationUUID: UUID?
    /// Raw.
    public let notificationType: String?
    /// Raw.
    public let subtype: String?
    /// Bundle identifier of the app that it claims to be about.
    public let bundleId: String?
    /// Raw.
    public let environment: String?
    /// When it claims to be signed.
    public let signedDate: Date?

    /// Nil where the bytes are not a JWS around a JSON object.
    public init?(_ jws: [UInt8]) {
        guard let payload = CompactJWS(jws[...]).flatMap({ Base64.decode($0.payload, .url) }),
            let root = try? JSONDocument(payload).root, root.kind == .object
        else { return nil }
        let holders = [root] + root.members.map(\.value).filter { $0.kind == .object }
        func text(_ name: String) -> String? { holders.lazy.compactMap { $0[name]?.string }.first }
        notificationUUID = root["notificationUUID"]?.string.flatMap(UUID.init(uuidString:))
        notificationType = root["notificationType"]?.string
        subtype = root["subtype"]?.string
        bundleId = text("bundleId")
        environment = text("environment")
        signedDate = root["signedDate"]?.double.map(AppleDate.date(from:))
    }
}
