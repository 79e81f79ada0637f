import Foundation
import Signatures

/// The API key for the simulated API, in App Store Connect's form.
struct APIKeyFile: Sendable {
    static let issuerId = "0b1e5c1e-0000-4000-8000-5707e4ee9e01"
    static let keyId = "LINEKEY001"

    let directory: String
    /// Differs in tests of key rotation.
    var keyId = Self.keyId

    /// The file that the services read.
    var list: String { directory + "/api-keys.json" }
    private var key: String { directory + "/AuthKey_\(keyId).p8" }

    /// As `simulator run --api-key` takes it.
    var option: String { "\(Self.issuerId):\(keyId):\(key)" }

    private struct Entry: Encodable {
        var bundleId: String
        var issuerId = APIKeyFile.issuerId
        var keyId: String
        var privateKeyFile: String
    }

    /// Creates the key on first use, and lists it for each app.
    func write(for apps: [ProcessPlan.App]) throws {
        if !FileManager.default.fileExists(atPath: key) {
            // Created with its permissions, so that it is never readable by others.
            let pem = Data(try P256PrivateKey.generate().pem().utf8)
            guard FileManager.default.createFile(atPath: key, contents: pem, attributes: [.posixPermissions: 0o600])
            else { throw CommandError("\(key) cannot be written; make the directory writable") }
        }
        let entries = apps.map { Entry(bundleId: $0.bundleId, keyId: keyId, privateKeyFile: key) }
        try JSONEncoder().encode(entries).write(to: URL(fileURLWithPath: list))
    }
}
