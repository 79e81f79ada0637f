import Digests
import Signatures
import Storage

/// A link that signs a person in to the console once: 256 random bits.
package struct ConsoleLink: Sendable {
    /// Seconds.
    package static let validity: Double = 300

    private let secret: String

    /// - Parameter random: 32 bytes.
    package init(random: [UInt8]) {
        precondition(random.count == 32, "a link has 256 random bits")
        var text: [UInt8] = []
        text += Base64.encode(random[...], .url)
        secret = String(decoding: text, as: UTF8.self)
    }

    /// What is stored.
    package var digest: [UInt8] { SHA256Hash.digest(Array(secret.utf8)) }

    /// - Parameter console: its address, with or without a slash at the end.
    package func address(at console: String) -> String {
        "\(console.hasSuffix("/") ? String(console.dropLast()) : console)/sign-in?link=\(secret)"
    }
}
