import Signatures
import StrictJSON

import struct Foundation.UUID

/// A notification of version 1, which Apple has deprecated and sends where App Store Connect still asks for it.
///
/// It has no signature, so every sender can write one. It names no purchase here and changes no state: it is kept so that an operator
/// sees that App Store Connect is set to the wrong version.
/// <https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv1>
public struct Version1Notification: Sendable {
    /// Derived from the content, because version 1 has no id; the same in every repetition.
    public let identifier: UUID
    /// Apple's `notification_type`, e.g. `INITIAL_BUY`.
    public let notificationType: String
    /// A configured app.
    public let bundleId: String
    /// An environment that the app accepts.
    public let environment: AppStoreEnvironment
    /// The short members, as JSON: neither receipts nor the shared secret.
    public let json: [UInt8]

    /// Longer texts are receipts.
    private static let longestText = 256

    /// Whether the bytes are read as version 1: a JWS never begins like an object.
    public static func isWritten(in body: [UInt8]) -> Bool { body.first == UInt8(ascii: "{") }

    init(_ body: [UInt8], identity: IdentityCheck) throws(VerificationFailure) {
        let document: JSONDocument
        do {
            document = try JSONDocument(body)
        } catch {
            throw VerificationFailure(.malformed, "neither signed nor JSON of version 1: \(error)")
        }
        let root = document.root
        guard let type = root["notification_type"]?.string, !type.isEmpty, type.utf8.count <= Self.longestText,
            let bundleId = root["bid"]?.string
        else { throw VerificationFailure(.malformed, "version 1 without notification_type or bid") }
        let environment = identity.environment(Self.environment(root["environment"]?.string))
        do throws(VerificationFailure) {
            try identity.check(
                bundleId: bundleId, appAppleId: nil, environment: environment, namesAppAppleId: false)
        } catch {
            // Unsigned: it proves nothing about any app.
            throw VerificationFailure(error.reason, "version 1, \(error.message)")
        }
        notificationType = type
        self.bundleId = bundleId
        self.environment = environment
        json = Self.short(root)
        identifier = UUID.own(of: body[...])
    }

    /// Version 1 has a spelling of its own for production.
    private static func environment(_ told: String?) -> AppStoreEnvironment {
        told == "PROD" ? .production : AppStoreEnvironment(rawValue: told ?? "")
    }

    private static func short(_ root: JSONValue) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        for (name, value) in root.members where name != "password" && name.utf8.count <= longestText {
            guard value.rawBytes.count <= longestText, value.kind != .object, value.kind != .array else { continue }
            writer.member(name, raw: Array(value.rawBytes))
        }
        writer.endObject()
        return writer.bytes
    }
}
