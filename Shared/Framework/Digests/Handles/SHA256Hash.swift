import COpenSSL

/// SHA-256 that can be stopped in the middle and continued from there any number of times.
///
/// A value: copying it copies the state of 112 bytes. The verifier keeps the state after each known header, because the
/// three signatures of a notification begin with the same four kilobytes.
public struct SHA256Hash: Sendable {
    private var context = SHA256_CTX()

    /// The hash of no bytes.
    public init() { SHA256_Init(&context) }

    /// Appends bytes.
    public mutating func update(_ bytes: ArraySlice<UInt8>) {
        bytes.withUnsafeBytes { buffer in
            if let address = buffer.baseAddress { SHA256_Update(&context, address, buffer.count) }
        }
    }

    /// The 32 bytes of the digest of everything appended so far; this value itself can continue.
    public func digest() -> [UInt8] {
        var copy = context
        return [UInt8](unsafeUninitializedCapacity: 32) { buffer, count in
            SHA256_Final(buffer.baseAddress, &copy)
            count = 32
        }
    }

    /// The digest of one piece.
    public static func digest(_ bytes: some Collection<UInt8>) -> [UInt8] {
        var hash = SHA256Hash()
        hash.update(ArraySlice(bytes))
        return hash.digest()
    }
}
