import Digests
import Testing

@Suite struct MessageAuthenticationTests {
    /// RFC 4231, cases 1, 2 and 6: a short key, a shorter one, and one longer than a block.
    @Test(arguments: [
        (
            [UInt8](repeating: 0x0b, count: 20), "Hi There",
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), "what do ya want for nothing?",
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
    ])
    func `MessageAuthentication agrees with RFC 4231, in one piece and in several`(
        key: [UInt8], text: String, expected: String
    ) {
        let message = Array(text.utf8)
        let authentication = MessageAuthentication(key: key)
        let code = authentication.code(of: [message[...]])
        #expect(code.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() == expected)
        #expect(authentication.isValid(code, of: [message[..<3], message[3...]]))
        #expect(!authentication.isValid(code, of: [message.dropLast()]))
        #expect(!authentication.isValid(code.dropLast(), of: [message[...]]))
        for index in code.indices {
            var other = code
            other[index] ^= 1
            #expect(!authentication.isValid(other, of: [message[...]]))
        }
    }
}
