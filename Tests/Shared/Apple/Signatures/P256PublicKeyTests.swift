import Signatures
import Testing

@Suite struct P256PublicKeyTests {
    @Test func `P256PublicKey accepts a signature for its bytes and its key only`() throws {
        let key = try P256PrivateKey.generate()
        let other = try P256PrivateKey.generate()
        let bytes = Array("the payload".utf8)
        let signature = try key.signature(over: bytes)
        #expect(signature.count == 64)
        #expect(try key.publicKey().isValid(signature: signature, over: bytes))
        #expect(try !other.publicKey().isValid(signature: signature, over: bytes))
        #expect(try !key.publicKey().isValid(signature: signature, over: bytes + [0]))
        #expect(try !key.publicKey().isValid(signature: signature, over: []))
    }

    @Test func `P256PublicKey rejects a signature with any changed bit`() throws {
        let key = try P256PrivateKey.generate()
        let publicKey = try key.publicKey()
        let bytes = Array("the payload".utf8)
        let signature = try key.signature(over: bytes)
        for bit in 0..<512 {
            var changed = signature
            changed[bit / 8] ^= 1 << UInt8(bit % 8)
            #expect(!publicKey.isValid(signature: changed, over: bytes))
        }
    }

    @Test func `P256PublicKey rejects numbers out of range and other lengths`() throws {
        let key = try P256PrivateKey.generate()
        let publicKey = try key.publicKey()
        let bytes = Array("the payload".utf8)
        let signature = try key.signature(over: bytes)
        let zero = [UInt8](repeating: 0, count: 32)
        let order: [UInt8] = [
            0xFF, 0xFF, 0xFF, 0xFF, 0x00, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
            0xBC, 0xE6, 0xFA, 0xAD, 0xA7, 0x17, 0x9E, 0x84, 0xF3, 0xB9, 0xCA, 0xC2, 0xFC, 0x63, 0x25, 0x51,
        ]
        let highest = [UInt8](repeating: 0xFF, count: 32)
        let r = Array(signature[..<32])
        let s = Array(signature[32...])
        for bad in [zero + s, r + zero, zero + zero, order + s, r + order, highest + s, r + highest, order + order] {
            #expect(!publicKey.isValid(signature: bad, over: bytes))
        }
        for length in [0, 1, 32, 63] {
            #expect(!publicKey.isValid(signature: Array(signature.prefix(length)), over: bytes))
        }
        #expect(!publicKey.isValid(signature: signature + [0], over: bytes))
        #expect(try !publicKey.isValid(signature: key.derSignature(over: bytes), over: bytes))
    }

    @Test func `P256PublicKey checks a thousand signatures under several keys correctly`() throws {
        let keys = try (0..<4).map { _ in try P256PrivateKey.generate() }
        let publicKeys = try keys.map { try $0.publicKey() }
        for index in 0..<1000 {
            let bytes = Array("payload \(index)".utf8)
            let signature = try keys[index % 4].signature(over: bytes)
            #expect(publicKeys[index % 4].isValid(signature: signature, over: bytes))
            #expect(!publicKeys[(index + 1) % 4].isValid(signature: signature, over: bytes))
        }
    }

    @Test func `P256PublicKey rejects a point that is not on the curve`() throws {
        let point = try P256PrivateKey.generate().publicKey().uncompressedPoint
        #expect(P256PublicKey(uncompressedPoint: point) != nil)
        var moved = point
        moved[64] ^= 1
        #expect(P256PublicKey(uncompressedPoint: moved) == nil)
        #expect(P256PublicKey(uncompressedPoint: [0]) == nil)
        #expect(P256PublicKey(uncompressedPoint: []) == nil)
        #expect(P256PublicKey(uncompressedPoint: [4] + [UInt8](repeating: 0, count: 64)) == nil)
        #expect(P256PublicKey(uncompressedPoint: [2] + point[1...32]) == nil)
    }

    @Test func `P256PrivateKey survives PEM, and other kinds are rejected`() throws {
        let key = try P256PrivateKey.generate()
        let again = try P256PrivateKey(pem: try key.pem())
        #expect(try again.publicKey().uncompressedPoint == key.publicKey().uncompressedPoint)
        let other = try IssuingKey.generate(.p384).pem()
        #expect(throws: OpenSSLFailure.self) { try P256PrivateKey(pem: other) }
        #expect(throws: OpenSSLFailure.self) { try P256PrivateKey(pem: "") }
    }
}
