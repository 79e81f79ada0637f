import struct Foundation.Date

/// Makes tokens, keeps one until half its life, and learns from rejections which key works and what Apple's clock shows.
actor TokenSource {
    /// Clocks that differ by less are not why a token is rejected.
    private static let noticeableSkew: Double = 30

    private var keys: [APIKey]
    private let bundleId: String
    /// The key that is tried first.
    private var current = 0
    private var token: BearerToken?
    /// How much Apple's clock is ahead of the local one.
    private var skew: Double = 0

    init(_ credentials: APICredentials, bundleId: String) {
        keys = credentials.keys
        self.bundleId = bundleId
    }

    /// How often one call may be rejected before every key and the right time have been tried.
    var chances: Int { keys.count + 1 }

    /// With which keys there are and what to check, for the operator to whom all of them are rejected.
    var unauthorized: APIError {
        guard !keys.isEmpty else {
            return .unauthorized("there is no key for \(bundleId); list one in the file of API keys")
        }
        return .unauthorized(
            "the App Store refuses every key of \(bundleId) (\(keys.map(\.keyId).joined(separator: ", "))): check "
                + "that issuer id, key id and .p8 file belong together, that the key is one for In-App Purchase and has not "
                + "been revoked, that the bundle id belongs to its account, and that this machine's clock is right")
    }

    /// The key that works, as far as is known; nil without one.
    var signingKey: APIKey? { keys.indices.contains(current) ? keys[current] : nil }

    /// From now on these keys; what is known of Apple's clock stays.
    func use(_ credentials: APICredentials) {
        keys = credentials.keys
        current = 0
        token = nil
    }

    /// - Throws: `APIError.unauthorized` without a key; `OpenSSLFailure` where a key cannot sign.
    func token(now: Date) throws -> BearerToken {
        let time = now.addingTimeInterval(skew)
        if let token, token.key == current, token.isFresh(now: time) { return token }
        guard keys.indices.contains(current) else { throw unauthorized }
        let token = try BearerToken(keys[current], number: current, bundleId: bundleId, now: time)
        self.token = token
        return token
    }

    /// Apple rejected a token.
    ///
    /// - Returns: Whether another attempt would be made otherwise: at Apple's time, or with another key.
    func rejected(_ rejected: BearerToken, serverDate: Date?, now: Date) -> Bool {
        let seen = serverDate?.timeIntervalSince(now) ?? skew
        if abs(seen - skew) > Self.noticeableSkew {
            skew = seen
            token = nil
            return true
        }
        guard keys.indices.contains(rejected.key), keys[rejected.key].keyId == rejected.keyId else { return true }
        // A token that was made before the last correction deserves a successor, not a change of keys.
        if let token, token.key == rejected.key, token.text != rejected.text { return true }
        if rejected.key == current { current = (current + 1) % keys.count }
        return keys.count > 1
    }
}
