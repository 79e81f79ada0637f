import AppStore
import Foundation
import Signatures
import StrictJSON

/// Checks the JWT of the Authorization header by Apple's rules.
struct TokenCheck: Sendable {
    /// Apple rejects a token that lives longer.
    private static let longestLife = 3600.0
    /// Seconds that a client's clock may be ahead.
    private static let skew = 60.0
    /// A token takes less than 1 kB.
    private static let sizeLimit = 8_192

    let keys: KeyRing

    /// - Returns: the bundle id of the token; nil if it is invalid, without a reason, as Apple gives none.
    func bundleId(authorization: String?, now: Date) -> String? {
        guard let authorization, authorization.utf8.count <= Self.sizeLimit, authorization.hasPrefix("Bearer ")
        else { return nil }
        guard let claims = keys.claims(of: Array(authorization.dropFirst(7).utf8)),
            // Apple's own library for Swift writes fractions of a second.
            claims["aud"]?.string == "appstoreconnect-v1", let expires = claims["exp"]?.double
        else { return nil }
        let seconds = now.timeIntervalSince1970
        // Apple documents iat, and its own library for Python leaves it out.
        let issued = claims["iat"].map { $0.double ?? -1 } ?? seconds
        guard expires > seconds, issued >= 0, issued <= seconds + Self.skew, expires - issued < Self.longestLife + 1
        else { return nil }
        return claims["bid"]?.string
    }
}

extension KeyRing {
    /// The claims of a JWS that a valid key signed for its issuer; nil for any other.
    func claims(of jws: [UInt8]) -> JSONValue? {
        guard let parts = CompactJWS(jws[...]), let header = Self.json(parts.header),
            header["alg"]?.string == "ES256", header["typ"]?.string == "JWT",
            let keyId = header["kid"]?.string, let key = self[keyId],
            let signature = Base64.decode(parts.signature, .url), signature.count == 64,
            key.publicKey.isValid(signature: signature, over: Array(parts.signed)),
            let claims = Self.json(parts.payload), claims["iss"]?.string == key.issuerId
        else { return nil }
        return claims
    }

    private static func json(_ segment: ArraySlice<UInt8>) -> JSONValue? {
        Base64.decode(segment, .url).flatMap { try? JSONDocument($0).root }
    }
}
