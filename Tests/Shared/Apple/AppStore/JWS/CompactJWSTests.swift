import AppStore
import Development
import Foundation
import Signatures
import StrictJSON
import Testing

@Suite struct CompactJWSTests {
    @Test func `CompactJWS splits three segments that are not empty`() throws {
        let bytes = Array("xhead.body.signature".utf8)[1...]
        let jws = try #require(CompactJWS(bytes))
        #expect(jws.header.elementsEqual("head".utf8))
        #expect(jws.payload.elementsEqual("body".utf8))
        #expect(jws.signature.elementsEqual("signature".utf8))
        #expect(jws.signed.elementsEqual("head.body".utf8))
    }

    @Test(arguments: ["", ".", "..", "a", "a.b", "a..c", ".b.c", "a.b.", "...", "a."])
    func `CompactJWS rejects fewer or empty segments`(text: String) {
        #expect(CompactJWS(ArraySlice(text.utf8)) == nil)
    }

    @Test func `CompactJWS that was signed is split, decoded and valid, with both signers`() throws {
        let authority = try DevelopmentAuthority(now: Date(timeIntervalSince1970: 1_780_000_000))
        let payload = Array(#"{"notificationType":"TEST"}"#.utf8)
        let header = CompactJWS.headerJSON(x5c: authority.x5c)
        let texts = [
            try CompactJWS.signed(headerJSON: header, payloadJSON: payload, key: authority.leafKey),
            try PayloadSigner(authority: authority).sign(payload),
        ]
        for text in texts {
            let jws = try #require(CompactJWS(text[...]))
            #expect(Base64.decode(jws.header, .url) == header)
            #expect(Base64.decode(jws.payload, .url) == payload)
            let signature = try #require(Base64.decode(jws.signature, .url))
            #expect(try authority.leafKey.publicKey().isValid(signature: signature, over: Array(jws.signed)))
        }
        let root = try JSONDocument(header).root
        #expect(root["alg"]?.string == "ES256")
        #expect(root["x5c"]?.elements.map(\.string) == authority.x5c)
    }
}
