import Contracts
import Digests
import Signatures

/// The secret that a backend sends: `sk_live_` or `sk_test_`, 256 random bits, and a checksum of both.
///
/// The checksum rejects mistyped and invented secrets without a look-up, and lets a scanner of leaked secrets recognise a key
/// without a request.
package struct ClientKeySecret: Sendable, Equatable {
    /// The whole text. It is shown once; only ``digest`` is stored.
    package let text: String

    /// A new key.
    /// - Parameter random: 32 bytes.
    package init(environment: StoreEnvironment, random: [UInt8]) {
        precondition(random.count == Self.randomBytes, "a key has 256 random bits")
        var text = Array(Self.prefix(of: environment).utf8)
        text += Base64.encode(random[...], .url)
        text += Base64.encode(Self.checksum(of: text[...]), .url)
        self.text = String(decoding: text, as: UTF8.self)
    }

    /// - Returns: nil where prefix, length or checksum are wrong.
    package init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == Self.length, bytes.starts(with: "sk_live_".utf8) || bytes.starts(with: "sk_test_".utf8),
            let random = Base64.decode(bytes[8..<51], .url), random.count == Self.randomBytes,
            let sum = Base64.decode(bytes[51...], .url), sum[...] == Self.checksum(of: bytes[..<51])
        else { return nil }
        self.text = String(text)
    }

    /// SHA-256 of the text, which is stored. A slow hash would add nothing, because 256 bits are random.
    package var digest: [UInt8] { SHA256Hash.digest(Array(text.utf8)) }

    private static let randomBytes = 32
    /// Prefix, 43 characters, 6 characters of checksum.
    private static let length = 8 + 43 + 6

    private static func prefix(of environment: StoreEnvironment) -> String {
        environment == .production ? "sk_live_" : "sk_test_"
    }

    private static func checksum(of text: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        SHA256Hash.digest(text).prefix(4)
    }
}

extension ClientKeySecret: CustomStringConvertible {
    /// A text without the secret, for logs.
    package var description: String { "\(text.prefix(8))…" }
}
