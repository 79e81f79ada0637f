import Digests
import Signatures

/// Signs payloads under one header as the App Store does.
///
/// The header is encoded and hashed once: a notification is three signatures under the same four kilobytes.
public struct PayloadSigner: Sendable {
    /// The encoded header that every payload signed here has.
    public let headerSegment: [UInt8]
    private let prefixHash: SHA256Hash
    private let key: P256PrivateKey

    /// Any header and key; whether they belong together is not looked at, so that forgeries can be made here, too.
    public init(headerJSON: [UInt8], key: P256PrivateKey) {
        headerSegment = Base64.encode(headerJSON, .url)
        var hash = SHA256Hash()
        hash.update(headerSegment + [UInt8(ascii: ".")])
        prefixHash = hash
        self.key = key
    }

    /// The compact JWS of a payload.
    public func sign(_ payloadJSON: [UInt8]) throws -> [UInt8] {
        let payload = Base64.encode(payloadJSON, .url)
        var hash = prefixHash
        hash.update(payload[...])
        let signature = try key.signature(overDigest: hash.digest())
        var text: [UInt8] = []
        text.reserveCapacity(headerSegment.count + payload.count + 90)
        text += headerSegment
        text.append(UInt8(ascii: "."))
        text += payload
        text.append(UInt8(ascii: "."))
        text += Base64.encode(signature, .url)
        return text
    }
}
