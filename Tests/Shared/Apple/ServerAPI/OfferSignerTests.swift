import Foundation
import Signatures
import StrictJSON
import Testing

@testable import AppStore
@testable import ServerAPI

@Suite struct OfferSignerTests {
    static let now = Date(timeIntervalSince1970: 1_780_000_000.75)
    static let nonce = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F") ?? UUID()

    let privateKey: P256PrivateKey
    let signer: OfferSigner

    init() throws {
        privateKey = try .generate()
        signer = OfferSigner(
            bundleId: "com.example.app", key: APIKey(issuerId: "issuer", keyId: "KEY1", privateKey: privateKey))
    }

    /// Header and claims of a JWS that the key signed.
    private func read(_ jws: String) throws -> (header: JSONValue, claims: JSONValue) {
        let parts = try #require(CompactJWS(Array(jws.utf8)[...]))
        let signature = try #require(Base64.decode(parts.signature, .url))
        #expect(try privateKey.publicKey().isValid(signature: signature, over: Array(parts.signed)))
        return (
            try JSONDocument(#require(Base64.decode(parts.header, .url))).root,
            try JSONDocument(#require(Base64.decode(parts.payload, .url))).root
        )
    }

    @Test func `OfferSigner signs for StoreKit 2 the claims that Apple documents`() throws {
        let jws = try signer.promotionalOffer(
            productId: "gold", offerIdentifier: "spring", transactionId: "7", nonce: Self.nonce, now: Self.now)
        let (header, claims) = try read(jws)
        #expect(header["alg"]?.string == "ES256" && header["kid"]?.string == "KEY1" && header["typ"]?.string == "JWT")
        #expect(
            Set(claims.members.map(\.key))
                == ["iss", "bid", "aud", "iat", "nonce", "productId", "offerIdentifier", "transactionId"])
        #expect(claims["iss"]?.string == "issuer" && claims["bid"]?.string == "com.example.app")
        #expect(claims["aud"]?.string == "promotional-offer" && claims["iat"]?.int64 == 1_780_000_000)
        #expect(claims["nonce"]?.string == Self.nonce.uuidString.lowercased())
        #expect(claims["productId"]?.string == "gold" && claims["offerIdentifier"]?.string == "spring")
        #expect(claims["transactionId"]?.string == "7")
    }

    @Test func `OfferSigner names no transaction in an offer for any customer`() throws {
        let jws = try signer.promotionalOffer(
            productId: "gold", offerIdentifier: "spring", transactionId: nil, nonce: Self.nonce, now: Self.now)
        #expect(try read(jws).claims["transactionId"] == nil)
    }

    @Test(arguments: [true, false])
    func `An introductory offer is allowed or denied for a customer`(isAllowed: Bool) throws {
        let jws = try signer.introductoryOffer(
            productId: "gold", isAllowed: isAllowed, transactionId: "7", nonce: Self.nonce, now: Self.now)
        let claims = try read(jws).claims
        #expect(claims["aud"]?.string == "introductory-offer-eligibility")
        #expect(claims["allowIntroductoryOffer"]?.bool == isAllowed)
        #expect(claims["productId"]?.string == "gold" && claims["transactionId"]?.string == "7")
    }

    @Test func `OfferSigner signs for StoreKit 1 the fields joined by U+2063, user and nonce in lower case`()
        throws
    {
        let text = try signer.promotionalOfferSignature(
            productId: "gold", offerIdentifier: "spring", applicationUsername: "Anna", nonce: Self.nonce,
            timestamp: 1_780_000_000_750)
        let der = try #require(Base64.decode(Array(text.utf8)[...], .standard))
        let fields = [
            "com.example.app", "KEY1", "gold", "spring", "anna", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f",
            "1780000000750",
        ]
        let message = Array(fields.joined(separator: "\u{2063}").utf8)
        #expect(try privateKey.publicKey().isValid(signature: Self.raw(der), over: message))
        #expect(try !privateKey.publicKey().isValid(signature: Self.raw(der), over: message + [0]))
    }

    /// r‖s of a signature in DER: a sequence of two integers.
    private static func raw(_ der: [UInt8]) throws -> [UInt8] {
        try BERElement(der[...]).elements().flatMap { number in
            let digits = number.content.drop { $0 == 0 }
            return [UInt8](repeating: 0, count: 32 - digits.count) + digits
        }
    }
}
