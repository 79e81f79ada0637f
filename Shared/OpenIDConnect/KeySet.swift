import Signatures
import StrictJSON

/// The keys of a provider (RFC 7517). Those of kinds that are not used here are left out.
package struct KeySet: Sendable {
    /// The two algorithms that are accepted. The key decides which one, never the token: a token that names `HS256` would
    /// otherwise be checked with the public key as the secret.
    enum Algorithm: String, Sendable {
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    struct Key: Sendable {
        enum Material: Sendable {
            case rsa(RSAPublicKey)
            case p256(P256PublicKey)
        }

        let id: String?
        let material: Material

        var algorithm: Algorithm {
            switch material {
            case .rsa: .rs256
            case .p256: .es256
            }
        }

        func isValid(_ signature: [UInt8], over bytes: ArraySlice<UInt8>) -> Bool {
            switch material {
            case .rsa(let key): key.isValid(signature: signature, over: bytes)
            case .p256(let key): key.isValid(signature: signature, over: Array(bytes))
            }
        }
    }

    private static let most = 100

    let keys: [Key]

    /// Nil where this is no set of keys.
    package init?(_ json: JSONValue) {
        guard let list = json["keys"], list.kind == .array else { return nil }
        keys = list.elements.prefix(Self.most).compactMap(Self.key)
    }

    /// Those that may have signed a token: with the id in its header, or the only one where the header names none.
    func candidates(id: String?, _ algorithm: Algorithm) -> [Key] {
        let fitting = keys.filter { $0.algorithm == algorithm }
        guard let id else { return fitting.count == 1 ? fitting : [] }
        return fitting.filter { $0.id == id }
    }

    private static func key(_ json: JSONValue) -> Key? {
        if let use = json["use"], use.string != "sig" { return nil }
        let material: Key.Material
        switch json["kty"]?.string {
        case "RSA":
            guard let n = number(json["n"]), let e = number(json["e"]),
                let key = RSAPublicKey(modulus: n, exponent: e)
            else { return nil }
            material = .rsa(key)
        case "EC":
            guard json["crv"]?.string == "P-256", let x = number(json["x"]), let y = number(json["y"]),
                let key = P256PublicKey(uncompressedPoint: [4] + x + y)
            else { return nil }
            material = .p256(key)
        default: return nil
        }
        let key = Key(id: json["kid"]?.string, material: material)
        if let algorithm = json["alg"], algorithm.string != key.algorithm.rawValue { return nil }
        return key
    }

    private static func number(_ json: JSONValue?) -> [UInt8]? {
        json?.string.flatMap { Base64.decode(Array($0.utf8)[...], .url) }
    }
}
