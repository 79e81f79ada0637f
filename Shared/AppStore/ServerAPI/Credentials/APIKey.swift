import Signatures

/// A key for the App Store Server API, made under Users and Access, Integrations, In-App Purchase in App Store Connect.
///
/// Its text names the key and never shows it.
public struct APIKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The account's id, a UUID in text.
    public let issuerId: String
    /// The key's id, ten characters.
    public let keyId: String
    let privateKey: P256PrivateKey

    /// - Parameter privateKey: From the `.p8` file that can be downloaded once.
    public init(issuerId: String, keyId: String, privateKey: P256PrivateKey) {
        self.issuerId = issuerId
        self.keyId = keyId
        self.privateKey = privateKey
    }

    /// The id of the key.
    public var description: String { "key \(keyId)" }
    /// The same.
    public var debugDescription: String { description }
    /// Nothing but the ids.
    public var customMirror: Mirror { Mirror(self, children: ["issuerId": issuerId, "keyId": keyId]) }
}
