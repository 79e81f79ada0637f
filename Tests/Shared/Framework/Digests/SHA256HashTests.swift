import Digests
import Testing

@Suite struct SHA256HashTests {
    @Test func `SHA256Hash computes the digests of FIPS 180-4`() {
        func hexadecimal(_ bytes: [UInt8]) -> String {
            bytes.map { (String($0 >> 4, radix: 16) + String($0 & 15, radix: 16)) }.joined()
        }
        #expect(
            hexadecimal(SHA256Hash.digest(Array("abc".utf8)))
                == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hexadecimal(SHA256Hash.digest([]))
                == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    }

    @Test func `SHA256Hash continues from a copy any number of times`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        for cut in stride(from: 0, through: 1000, by: 37) {
            var hash = SHA256Hash()
            hash.update(bytes[..<cut])
            var one = hash
            var two = hash
            one.update(bytes[cut...])
            two.update([1, 2, 3])
            #expect(one.digest() == SHA256Hash.digest(bytes))
            #expect(one.digest() == one.digest())
            #expect(two.digest() == SHA256Hash.digest(bytes[..<cut] + [1, 2, 3]))
        }
    }
}
