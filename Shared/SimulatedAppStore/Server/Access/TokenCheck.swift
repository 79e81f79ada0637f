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

    /// - Parameter times: the token has to be valid at one of them.
    /// - Returns: the bundle id of the token.
    /// - Throws: ``SimulatorError`` with the reason, for the simulator's own output: Apple's answer has none.
    func bundleId(authorization: String?, at times: [Date]) throws -> String {
        guard let authorization, authorization.hasPrefix("Bearer ") else {
            throw SimulatorError("the request has no header Authorization: Bearer TOKEN")
        }
        guard authorization.utf8.count <= Self.sizeLimit else {
            throw SimulatorError("the token is longer than \(Self.sizeLimit) bytes")
        }
        guard let claims = keys.claims(of: Array(authorization.dropFirst(7).utf8)) else {
            throw SimulatorError(
                "no accepted key signed the token for its issuer: it is a JWT with alg ES256, typ JWT, and kid and iss of a "
                    + "key in api-keys.json or of --api-key")
        }
        guard claims["aud"]?.string == "appstoreconnect-v1" else {
            throw SimulatorError("aud of the token is not appstoreconnect-v1")
        }
        // Apple's own library for Swift writes fractions of a second.
        guard let expires = claims["exp"]?.double else { throw SimulatorError("the token has no exp") }
        guard let bundleId = claims["bid"]?.string else { throw SimulatorError("the token has no bid") }
        guard times.contains(where: { Self.isValid(at: $0, issued: claims["iat"], expires: expires) }) else {
            var moments = times.map { $0.formatted(.iso8601) }
            if moments.first == moments.last { moments = moments.suffix(1) }
            throw SimulatorError(
                "iat and exp of the token are not valid at \(moments.joined(separator: " or "))"
                    + ", or more than an hour apart")
        }
        return bundleId
    }

    private static func isValid(at date: Date, issued: JSONValue?, expires: Double) -> Bool {
        let seconds = date.timeIntervalSince1970
        // Apple documents iat, and its own library for Python leaves it out.
        let issued = issued.map { $0.double ?? -1 } ?? seconds
        return expires > seconds && issued >= 0 && issued <= seconds + skew && expires - issued < longestLife + 1
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
