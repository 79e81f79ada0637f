import AppStore
import Signatures

/// A key with which an account may call the API, as App Store Connect hands it out.
struct AcceptedKey: Sendable {
    var issuerId: String
    var keyId: String
    var publicKey: P256PublicKey
}

extension AcceptedKey {
    /// Reads `ISSUER:KEYID:FILE`, the file a `.p8` as Apple hands it out.
    init(describedBy text: String, contents: (String) throws -> String) throws {
        let parts = text.split(separator: ":", maxSplits: 2).map(String.init)
        guard parts.count == 3 else { throw SimulatorError("--api-key must be ISSUER:KEYID:FILE, not \(text)") }
        let key: P256PrivateKey
        do { key = try P256PrivateKey(pem: contents(parts[2])) } catch {
            throw SimulatorError("\(parts[2]) is no P-256 key in PEM: give the .p8 file of the key (\(error))")
        }
        self.init(issuerId: parts[0], keyId: parts[1], publicKey: try key.publicKey())
    }
}
