import Digests
import Testing

@testable import Signatures

/// Two implementations of one check: OpenSSL's own, and the one with tables. Every answer must be the same.
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

    @Test func `VerifyingTable agrees with OpenSSL on a thousand signatures, genuine and changed`() throws {
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

    @Test func `VerifyingTable agrees with OpenSSL at every edge of the numbers`() throws {
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

    @Test func `VerifyingTable accepts genuine signatures over digests at the edges, as OpenSSL does`() throws {
        let pair = try Pair()
        for byte: UInt8 in [0x00, 0x01, 0x7F, 0x80, 0xFF] {
            for _ in 0..<20 {
                let digest = [UInt8](repeating: byte, count: 32)
                #expect(pair.agree(try pair.privateKey.signature(overDigest: digest), digest, true))
            }
        }
    }

    @Test func `VerifyingTable gives the same answer before, while and after it is computed, from many threads`()
        async throws
    {
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

    /// Computed by hand from the definition, because random signatures never reach these cases.
    @Test(arguments: [
        (
            "x of the point is r + n", true,
            "09edc9c54a76eacc073ff8f52d860fefe526a5e3efcff94bee63282cb42cd837",
            "120fea023f93225df0091c528fad18a13a164bfa9b1768e3f3247e437a8a962e",
            "0000000000000000000000000000000000000000000000000000000000000003",
            "db192c5d3ff6f8948bd05faebb10ca0b98041d1cbb335895e00fb01fa9b30bfd",
            "f0ae2be36009ac8745a0be0dee6e02f3175f6936000722e89db5f2b5e80a93e3"
        ),
        (
            "both products are the same point", true, sevenX, sevenY,
            "6c583ba170520dd359fc20e887a4a3372124545f98f4c1df5733aadf90f17040",
            "b3bc0ce6d7a76c76ef8e355422f4159976ba787212a8b08a170b6e3523a466fb",
            "f669a16c123e60c575e4e65bb58076826e305941e08210117af61696fdd3c71e"
        ),
        (
            "the products cancel out", false, sevenX, sevenY,
            "0000000000000000000000000000000000000000000000000000000000000005",
            "fbd6fbd600000000fbd6fbd6fbd6fbd6b9d51ab2eab0c0db9ef68613328762ff",
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc63252e"
        ),
        (
            "the digest is zero", true, sevenX, sevenY,
            "65f6207301ede72f7d3499e973295924daf29ebc42bcadd977ef4a5a8165f8ac",
            "24b41e1fe02efd1fad9603ab0858c7c4f750abc6c65593bc341e03ee9b41acde",
            "0000000000000000000000000000000000000000000000000000000000000000"
        ),
        (
            "the digest is the order", true, sevenX, sevenY,
            "65f6207301ede72f7d3499e973295924daf29ebc42bcadd977ef4a5a8165f8ac",
            "24b41e1fe02efd1fad9603ab0858c7c4f750abc6c65593bc341e03ee9b41acde",
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551"
        ),
        (
            "the digest is beyond the order", true, sevenX, sevenY,
            "26efcebd0ee9e34a669187e18b3a9122b2f733945b649cc9f9f921e9f9dad812",
            "40e34a658c7b5a4b82598046283f2d846171d9005ee57c031c781bd136ed1e01",
            "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632554"
        ),
    ])
    func `VerifyingTable is right in cases that random signatures never reach`(
        name: String, isValid: Bool, x: String, y: String, r: String, s: String, digest: String
    ) throws {
        let point = try [4] + bytes(x) + bytes(y)
        for tableAfter in [Int.max, 1] {
            let handle = try #require(VerifyingKeyHandle(uncompressedPoint: point, tableAfter: tableAfter))
            #expect(handle.isValid(try bytes(r) + bytes(s), overDigest: try bytes(digest)) == isValid, "\(name)")
        }
    }

    /// The point 7·G: the key with the private number 7.
    private static let sevenX = "8e533b6fa0bf7b4625bb30667c01fb607ef9f8b8a80fef5b300628703187b2a3"
    private static let sevenY = "73eb1dbde03318366d069f83a6f5900053c73633cb041b21c55e1a86c1f400b4"

    private func bytes(_ hexadecimal: String) throws -> [UInt8] {
        try stride(from: 0, to: hexadecimal.count, by: 2).map { offset in
            try #require(UInt8(hexadecimal.dropFirst(offset).prefix(2), radix: 16))
        }
    }
}
