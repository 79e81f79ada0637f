import COpenSSL
import Foundation
import Signatures
import StrictJSON
import Testing

/// A key of the tests' OpenID provider.
enum IssuerKey: Sendable {
    case p256(P256PrivateKey)
    /// In PEM.
    case rsa(String)

    static func makeP256() throws -> IssuerKey { .p256(try .generate()) }
    static func makeRSA(bits: Int = 2048) throws -> IssuerKey { .rsa(try IssuingKey.generate(.rsa(bits: bits)).pem()) }

    var algorithm: String {
        switch self {
        case .p256: "ES256"
        case .rsa: "RS256"
        }
    }

    /// The public key as providers publish it (RFC 7517).
    func json(id: String) throws -> [UInt8] {
        var json = JSONWriter()
        json.beginObject()
        json.member("kid", id)
        json.member("use", "sig")
        json.member("alg", algorithm)
        switch self {
        case .p256(let key):
            let point = try key.publicKey().uncompressedPoint
            json.member("kty", "EC")
            json.member("crv", "P-256")
            json.member("x", Self.text(point[1...32]))
            json.member("y", Self.text(point[33...64]))
        case .rsa(let pem):
            json.member("kty", "RSA")
            try Self.withKey(pem) { key in
                json.member("n", try Self.number("n", of: key))
                json.member("e", try Self.number("e", of: key))
            }
        }
        json.endObject()
        return json.bytes
    }

    /// What an attacker knows of it.
    var publicBytes: [UInt8] {
        get throws { try json(id: "") }
    }

    func signature(over bytes: [UInt8]) throws -> [UInt8] {
        switch self {
        case .p256(let key): return try key.signature(over: bytes)
        case .rsa(let pem):
            return try Self.withKey(pem) { key in
                let context = try #require(EVP_MD_CTX_new())
                defer { EVP_MD_CTX_free(context) }
                try #require(EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1)
                var count = 0
                try #require(EVP_DigestSign(context, nil, &count, bytes, bytes.count) == 1)
                var signature = [UInt8](repeating: 0, count: count)
                try #require(EVP_DigestSign(context, &signature, &count, bytes, bytes.count) == 1)
                return Array(signature.prefix(count))
            }
        }
    }

    static func text(_ bytes: some Collection<UInt8>) -> String {
        String(decoding: Base64.encode(bytes, .url), as: UTF8.self)
    }

    private static func number(_ name: String, of key: OpaquePointer) throws -> String {
        var number: OpaquePointer?
        try #require(EVP_PKEY_get_bn_param(key, name, &number) == 1)
        defer { BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: Int(BN_num_bits(number) + 7) / 8)
        BN_bn2bin(number, &bytes)
        return text(bytes)
    }

    private static func withKey<Value>(_ pem: String, _ body: (OpaquePointer) throws -> Value) throws -> Value {
        let bytes = Array(pem.utf8)
        let memory = try #require(BIO_new_mem_buf(bytes, Int32(bytes.count)))
        defer { BIO_free(memory) }
        let key = try #require(PEM_read_bio_PrivateKey(memory, nil, nil, nil))
        defer { EVP_PKEY_free(key) }
        return try body(key)
    }
}
