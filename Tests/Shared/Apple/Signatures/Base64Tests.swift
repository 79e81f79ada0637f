import AppStore
import Foundation
import Signatures
import TestSupport
import Testing

@Suite struct Base64Tests {
    @Test func `Every length survives in both alphabets and agrees with Foundation`() throws {
        var random = SeededGenerator(state: 1)
        for length in 0..<400 {
            let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &random) }
            let standard = Base64.encode(bytes, .standard)
            #expect(String(decoding: standard, as: UTF8.self) == Data(bytes).base64EncodedString())
            #expect(Base64.decode(standard[...], .standard) == bytes)
            let url = Base64.encode(bytes, .url)
            let expected = Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_")
                .replacing("=", with: "")
            #expect(String(decoding: url, as: UTF8.self) == expected)
            #expect(Base64.decode(url[...], .url) == bytes)
        }
    }

    @Test func `Every text that is not canonical is rejected`() {
        for text in ["A", "AAAAA", "AB", "AAB", "AA==", "AA=", "A A", "AA\n", "AA+A", "AA/A", "AAA.", "é", "AAAAAB"] {
            #expect(Base64.decode(ArraySlice(text.utf8), .url) == nil, "\(text)")
        }
        for text in [
            "AA", "AAA", "AA=", "AAA==", "A===", "====", "AA-A", "AA_A", "AB==", "AAB=", "AA==AAAA", " AAA", "AAAA\n",
            "AAAA====", "=", "AA=A",
        ] {
            #expect(Base64.decode(ArraySlice(text.utf8), .standard) == nil, "\(text)")
        }
        #expect(Base64.decode([], .url) == [])
        #expect(Base64.decode([], .standard) == [])
    }

    @Test func `Character that is wrong is noticed at any place`() {
        let text = Base64.encode([UInt8](repeating: 0xA5, count: 60), .url)
        for place in text.indices {
            for wrong: UInt8 in [0, 0x20, 0x2B, 0x2E, 0x2F, 0x3D, 0x7F, 0x80, 0xFF] {
                var changed = text
                changed[place] = wrong
                #expect(Base64.decode(changed[...], .url) == nil)
            }
        }
    }

    @Test func `Two texts never mean the same bytes`() {
        var seen: Set<[UInt8]> = []
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        for one in alphabet {
            for two in alphabet {
                if let bytes = Base64.decode([one, two], .url) { #expect(seen.insert(bytes).inserted) }
                for three in alphabet {
                    if let bytes = Base64.decode([one, two, three], .url) { #expect(seen.insert(bytes).inserted) }
                }
            }
        }
        #expect(seen.count == 256 + 65536)
    }
}
