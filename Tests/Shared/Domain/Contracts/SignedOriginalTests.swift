import Signatures
import TestSupport
import Testing

@testable import Contracts

@Suite struct SignedOriginalTests {
    @Test func `SignedOriginal restores an original like Apple's exactly and holds its header once`() throws {
        let original = SignedSample.likeApple(seed: 1)
        let packed = SignedOriginal(encoding: original)
        #expect(packed.headers.count == 1)
        #expect(packed.blob.count < 500)
        #expect(original.count > 20_000)
        #expect(try packed.original() == original)
    }

    @Test func `Two headers are two references`() throws {
        var generator = SeededGenerator(state: 2)
        let inner = SignedSample.likeApple(seed: 3)
        let payload = Array("{\"signedTransactionInfo\":\"".utf8) + inner + Array("\"}".utf8)
        let text = [
            SignedSample.segment(SignedSample.random(300, &generator)), SignedSample.segment(payload),
            SignedSample.segment([1, 2]),
        ]
        let original = Array(text.joined(separator: ".").utf8)
        let packed = SignedOriginal(encoding: original)
        #expect(packed.headers.count == 2)
        #expect(try packed.original() == original)
    }

    @Test(arguments: [
        "", ".", "..", "...", "a.b", "a.b.c.d", "a.b.c", "e30.e30.AA", "e30.e30.AB", "e30.e31.AA", "e30.e30=.AA",
        "e30.e30.A", "e30.!!.AA", "{\"json\":1}", "e30..", "\0.\0.\0", "e30.ImV5Si5leUouQUEi.AA", "e30.ImE.AA",
    ])
    func `A text that is not canonical is restored exactly`(text: String) throws {
        let original = Array(text.utf8)
        #expect(try SignedOriginal(encoding: original).original() == original)
    }

    @Test(arguments: 0..<8 as Range<UInt64>)
    func `A damaged original is restored exactly`(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let intact = SignedSample.likeApple(seed: seed)
        for _ in 0..<20 {
            var original = intact
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                let place = Int.random(in: 0..<original.count, using: &generator)
                switch Int.random(in: 0..<4, using: &generator) {
                case 0: original[place] = UInt8.random(in: 0...255, using: &generator)
                case 1: original.remove(at: place)
                case 2: original.insert(UInt8(ascii: "."), at: place)
                default: original.removeSubrange(place...)
                }
                if original.isEmpty { break }
            }
            #expect(try SignedOriginal(encoding: original).original() == original)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `Any bytes are restored exactly`(seed: UInt64) throws {
        var generator = SeededGenerator(state: seed)
        let alphabet = Array("eyJ0.\"AB_-=".utf8)
        for _ in 0..<50 {
            let count = Int.random(in: 0..<400, using: &generator)
            let original = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            #expect(try SignedOriginal(encoding: original).original() == original)
            let payload = "e30.\(SignedSample.segment(original)).AAAA"
            #expect(try SignedOriginal(encoding: Array(payload.utf8)).original() == Array(payload.utf8))
        }
    }

    @Test(arguments: 0..<4 as Range<UInt64>)
    func `A damaged blob is an error or other bytes, never a crash`(seed: UInt64) {
        var generator = SeededGenerator(state: seed)
        let original = SignedSample.likeApple(seed: seed)
        let packed = SignedOriginal(encoding: original)
        for _ in 0..<100 {
            var damaged = packed
            let place = Int.random(in: 0..<damaged.blob.count, using: &generator)
            if Bool.random(using: &generator) {
                damaged.blob[place] = UInt8.random(in: 0...255, using: &generator)
            } else {
                damaged.blob.removeSubrange(place...)
            }
            guard damaged != packed else { continue }
            let restored = try? damaged.original()
            #expect(restored == nil || restored != original)
        }
    }

    @Test func `SignedOriginal fails where its header is missing`() {
        var packed = SignedOriginal(encoding: SignedSample.likeApple(seed: 5))
        packed.headers = []
        #expect(throws: SignedOriginal.Damage.self) { try packed.original() }
    }
}
