import Testing

@testable import Signatures

/// The same promise twice: OpenSSL's own check, and ours over tables. Every answer must be the same.
@Suite struct VerifyingTableTests {
    private struct Pair {
        let privateKey: P256PrivateKey
        let plain: VerifyingKeyHandle
        let tabled: VerifyingKeyHandle

        init() throws {
            privateKey = try P256PrivateKey.generate()
            let point = try privateKey.publicKey().uncompressedPoint
            plain = try #require(VerifyingKeyHandle(uncompressedPoint: point, tableAfter: .max))
            tabled = try #require(VerifyingKeyHandle(uncompressedPoint: point, tableAfter: 1))
        }

        func agree(_ signature: [UInt8], _ digest: [UInt8], _ expected: Bool?) -> Bool {
            let one = plain.isValid(signature, overDigest: digest)
            let other = tabled.isValid(signature, overDigest: digest)
            return one == other && (expected.map { $0 == one } ?? true)
        }
    }

    @Test func `both agree on a thousand signatures, genuine and changed`() throws {
        for _ in 0..<5 {
            let pair = try Pair()
            for number in 0..<200 {
                let digest = SHA256Hash.digest(Array("payload \(number)".utf8))
                let signature = try pair.privateKey.signature(overDigest: digest)
                #expect(pair.agree(signature, digest, true))
                var changed = signature
                changed[number % 64] ^= UInt8(1 << (number % 8))
                #expect(pair.agree(changed, digest, false))
                var otherDigest = digest
                otherDigest[number % 32] ^= 0x80
                #expect(pair.agree(signature, otherDigest, false))
            }
        }
    }

    @Test func `both agree at every edge of the numbers`() throws {
        let pair = try Pair()
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        func moved(_ number: [UInt8], by change: Int) -> [UInt8] {
            var number = number
            number[31] = UInt8(truncatingIfNeeded: Int(number[31]) + change)
            return number
        }
        let zero = [UInt8](repeating: 0, count: 32)
        let highest = [UInt8](repeating: 0xFF, count: 32)
        let edges = [
            zero, moved(zero, by: 1), moved(zero, by: 2), moved(order, by: -1), order, moved(order, by: 1), highest,
            moved(highest, by: -1), try #require(pair.privateKey.handle.publicPoint.map { Array($0[1...32]) }),
        ]
        for r in edges {
            for s in edges {
                for digest in edges { #expect(pair.agree(r + s, digest, nil)) }
            }
        }
        for length in [0, 1, 32, 63, 65] {
            #expect(pair.agree([UInt8](repeating: 1, count: length), highest, false))
        }
        #expect(pair.agree([UInt8](repeating: 1, count: 64), [], false))
    }

    @Test func `genuine signatures over digests at the edges are valid in both`() throws {
        let pair = try Pair()
        for byte: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
            for _ in 0..<20 {
                let digest = [UInt8](repeating: byte, count: 32)
                #expect(pair.agree(try pair.privateKey.signature(overDigest: digest), digest, true))
            }
        }
    }

    @Test func `the answer is the same before, while and after a table is made, from many threads`() async throws {
        let key = try P256PrivateKey.generate()
        let point = try key.publicKey().uncompressedPoint
        let handle = try #require(VerifyingKeyHandle(uncompressedPoint: point, tableAfter: 50))
        let digest = SHA256Hash.digest([1, 2, 3])
        let signature = try key.signature(overDigest: digest)
        let other = SHA256Hash.digest([4])
        await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    (0..<50).allSatisfy { _ in
                        handle.isValid(signature, overDigest: digest) && !handle.isValid(signature, overDigest: other)
                    }
                }
            }
            for await isRight in group { #expect(isRight) }
        }
    }
}
