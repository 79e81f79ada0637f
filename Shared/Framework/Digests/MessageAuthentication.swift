/// HMAC-SHA256 (RFC 2104) with one key. Its two hash states are prepared once, so that a message costs its own bytes and two blocks.
public struct MessageAuthentication: Sendable {
    private static let blockBytes = 64
    private let inner: SHA256Hash
    private let outer: SHA256Hash

    /// - Parameter key: secret and random; one of 32 bytes has all the strength there is.
    public init(key: [UInt8]) {
        var block = key.count > Self.blockBytes ? SHA256Hash.digest(key) : key
        block += [UInt8](repeating: 0, count: Self.blockBytes - block.count)
        func begun(_ pad: UInt8) -> SHA256Hash {
            var hash = SHA256Hash()
            hash.update(block.map { $0 ^ pad }[...])
            return hash
        }
        inner = begun(0x36)
        outer = begun(0x5c)
    }

    /// The 32 bytes of the code of a message that consists of these pieces.
    public func code(of pieces: [ArraySlice<UInt8>]) -> [UInt8] {
        var inner = inner
        for piece in pieces { inner.update(piece) }
        var outer = outer
        outer.update(inner.digest()[...])
        return outer.digest()
    }

    /// Compares in constant time.
    public func isValid(_ code: [UInt8], of pieces: [ArraySlice<UInt8>]) -> Bool {
        let expected = self.code(of: pieces)
        guard code.count == expected.count else { return false }
        return zip(code, expected).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
