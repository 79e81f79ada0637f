import AppStore
import Signatures
import StrictJSON

import struct Foundation.Date

/// Why an ID token is refused.
package enum IDTokenFault: Error, Sendable, Equatable {
    /// No compact JWS of two JSON objects, or an extension that must be understood.
    case malformed
    /// Neither RS256 nor ES256; `none` and HS256 among others.
    case algorithm(String)
    /// No key of the provider has this id and this algorithm.
    case unknownKey(String)
    case signature
    /// A claim that is missing or wrong, by its name.
    case claim(String)
    case expired
    case notYetValid
}

extension IDTokenFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .malformed: "it is no signed token"
        case .algorithm(let name): "it is signed by “\(name.prefix(20))”, and only RS256 and ES256 are accepted"
        case .unknownKey(let id): "the provider publishes no key “\(id.prefix(100))” for it"
        case .signature: "its signature is wrong"
        case .claim(let name): "its claim “\(name)” is missing or wrong"
        case .expired: "it has expired"
        case .notYetValid: "it is dated in the future: compare the clocks of both machines"
        }
    }
}

/// A proven ID token.
package struct IDToken: Sendable {
    package let claims: JSONValue

    /// A claim that is a text, by its name or by a path with dots.
    package func text(_ name: String) -> String? { claim(name)?.string }

    /// The texts of a claim that is a list or one text.
    package func texts(_ name: String) -> [String] {
        guard let value = claim(name) else { return [] }
        return value.string.map { [$0] } ?? value.elements.compactMap(\.string)
    }

    /// Whether the provider vouches for the address in a claim: `email_verified` beside it is the JSON value true. A text, a
    /// number or nothing is no such word, although some providers mean true by them.
    package func hasVerifiedEmail(beside name: String) -> Bool {
        let path = name.split(separator: ".").dropLast()
        let siblings = claims[name] != nil ? claims : path.reduce(claims as JSONValue?) { $0?[String($1)] }
        return siblings?["email_verified"]?.bool == true
    }

    /// Names may hold dots themselves, as those that are addresses do.
    private func claim(_ name: String) -> JSONValue? {
        claims[name] ?? name.split(separator: ".").reduce(claims as JSONValue?) { $0?[String($1)] }
    }
}

/// What must be true of an ID token (OpenID Connect Core 1.0, 3.1.3.7).
package struct IDTokenRules: Sendable {
    /// Acceptable difference of clocks, and a token that is older than this when it comes is not of this sign-in.
    private static let leeway = 60.0
    private static let oldest = 600.0

    let issuer: String
    let clientId: String

    package func token(
        _ text: String, keys: KeySet, nonce: String, at now: Date
    ) throws(IDTokenFault) -> IDToken {
        let claims = try proven(Array(text.utf8), keys)
        guard claims["iss"]?.string == issuer else { throw .claim("iss") }
        try audience(claims)
        guard let expiry = claims["exp"]?.double else { throw .claim("exp") }
        guard let issued = claims["iat"]?.double else { throw .claim("iat") }
        let time = now.timeIntervalSince1970
        guard expiry > time - Self.leeway, issued > time - Self.oldest else { throw .expired }
        guard issued < time + Self.leeway, claims["nbf"]?.double ?? issued < time + Self.leeway else {
            throw .notYetValid
        }
        guard claims["nonce"]?.string == nonce else { throw .claim("nonce") }
        guard claims["sub"]?.string?.isEmpty == false else { throw .claim("sub") }
        return IDToken(claims: claims)
    }

    private func proven(_ bytes: [UInt8], _ keys: KeySet) throws(IDTokenFault) -> JSONValue {
        guard let jws = CompactJWS(bytes[...]), let header = Self.object(jws.header), header["crit"] == nil,
            let signature = Base64.decode(jws.signature, .url)
        else { throw .malformed }
        let name = header["alg"]?.string ?? ""
        guard let algorithm = KeySet.Algorithm(rawValue: name) else { throw .algorithm(name) }
        let id = header["kid"]?.string
        let candidates = keys.candidates(id: id, algorithm)
        guard !candidates.isEmpty else { throw .unknownKey(id ?? "") }
        guard candidates.contains(where: { $0.isValid(signature, over: jws.signed) }) else { throw .signature }
        guard let claims = Self.object(jws.payload) else { throw .malformed }
        return claims
    }

    /// For this client alone, or for several and handed to this one.
    private func audience(_ claims: JSONValue) throws(IDTokenFault) {
        let audiences = claims["aud"].map { $0.string.map { [$0] } ?? $0.elements.compactMap(\.string) } ?? []
        guard audiences.contains(clientId) else { throw .claim("aud") }
        if let party = claims["azp"], party.string != clientId { throw .claim("azp") }
        guard audiences.count == 1 || claims["azp"] != nil else { throw .claim("azp") }
    }

    private static func object(_ segment: ArraySlice<UInt8>) -> JSONValue? {
        guard let bytes = Base64.decode(segment, .url), let document = try? JSONDocument(bytes),
            document.root.kind == .object
        else { return nil }
        return document.root
    }
}
