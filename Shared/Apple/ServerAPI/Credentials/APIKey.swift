import AppStore
import Signatures
import StrictJSON

import struct Foundation.Date

/// A key for the App Store Server API, made under Users and Access, Integrations, In-App Purchase in App Store Connect.
///
/// Its text names the key and never shows it.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/creating-api-keys-to-authorize-api-requests>
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

    /// A token for calling Apple's API by other means, `curl` for one: for 19 minutes its holder can do what the key
    /// can. Keep it secret and do not store it.
    ///
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    public func secretToken(bundleId: String, now: Date) throws -> String {
        try BearerToken(self, number: 0, bundleId: bundleId, now: now).text
    }

    /// What the key signs for Apple: a JWS in whose header it is named.
    ///
    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    func jws(_ writeClaims: (inout JSONWriter) -> Void) throws -> String {
        var header = JSONWriter()
        header.beginObject()
        header.member("alg", "ES256")
        header.member("kid", keyId)
        header.member("typ", "JWT")
        header.endObject()
        var claims = JSONWriter()
        claims.beginObject()
        writeClaims(&claims)
        claims.endObject()
        let signed = try CompactJWS.signed(headerJSON: header.bytes, payloadJSON: claims.bytes, key: privateKey)
        return String(decoding: signed, as: UTF8.self)
    }

    /// The id of the key.
    public var description: String { "key \(keyId)" }
    /// The description: a debugger shows no key either.
    public var debugDescription: String { description }
    /// Nothing but the ids.
    public var customMirror: Mirror { Mirror(self, children: ["issuerId": issuerId, "keyId": keyId]) }
}
