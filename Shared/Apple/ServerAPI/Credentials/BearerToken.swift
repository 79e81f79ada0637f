import StrictJSON

import struct Foundation.Date

/// The token of a request: a JWS over the issuer, the app and the expiry. Never printed.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/generating-json-web-tokens-for-api-requests>
struct BearerToken: Sendable, CustomStringConvertible, CustomReflectable {
    /// Apple accepts an hour at most.
    static let lifetime: Double = 20 * 60
    /// It is dated back, because a server whose clock is behind rejects a date in the future.
    static let leeway: Double = 60

    /// As it goes into the header Authorization.
    let text: String
    /// Which of the keys signed it, by its place.
    let key: Int
    /// The same by its id: the keys may have been replaced since.
    let keyId: String
    /// By the clock, corrected by the known difference to Apple's.
    let issuedAt: Date

    /// - Throws: `OpenSSLFailure` where the key cannot sign.
    init(_ key: APIKey, number: Int, bundleId: String, now: Date) throws {
        let issuedAt = Int64((now.timeIntervalSince1970 - Self.leeway).rounded(.down))
        text = try key.jws { claims in
            claims.member("iss", key.issuerId)
            claims.member("iat", issuedAt)
            claims.member("exp", issuedAt + Int64(Self.lifetime))
            claims.member("aud", "appstoreconnect-v1")
            claims.member("bid", bundleId)
        }
        self.key = number
        keyId = key.keyId
        self.issuedAt = now
    }

    /// Half its life: no call begins with a token that could end on the way, nor after a clock was set back.
    func isFresh(now: Date) -> Bool { abs(now.timeIntervalSince(issuedAt)) < Self.lifetime / 2 }

    var description: String { "a token of key number \(key + 1)" }
    var customMirror: Mirror { Mirror(self, children: ["key": key]) }
}
