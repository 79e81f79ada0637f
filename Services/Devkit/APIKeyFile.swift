import Commands
import Foundation
import Signatures

/// The API keys for the simulated API, in App Store Connect's form: each app has its own.
struct APIKeyFile: Sendable {
    static let issuerId = "0b1e5c1e-0000-4000-8000-5707e4ee9e01"
    static let keyId = "DEVKEY0001"

    let directory: String
    /// Of the first app; differs in tests of key rotation.
    var keyId = Self.keyId

    /// The file that the services read.
    var list: String { directory + "/api-keys.json" }
    private func file(of keyId: String) -> String { directory + "/AuthKey_\(keyId).p8" }

    /// Ten characters, as Apple's are.
    private func keyId(of place: Int) -> String { place == 0 ? keyId : keyId.dropLast() + "\(place + 1)" }

    /// The options by which `simulator run --api-key` takes the keys.
    func options(for apps: [ProcessPlan.App]) -> [String] {
        apps.indices.map(keyId).map { "\(Self.issuerId):\($0):\(file(of: $0))" }
    }

    private struct Entry: Encodable {
        var bundleId: String
        var issuerId = APIKeyFile.issuerId
        var keyId: String
        var privateKeyFile: String
    }

    /// Creates the keys on first use, and lists them.
    func write(for apps: [ProcessPlan.App]) throws {
        let entries = try apps.enumerated().map { place, app in
            let key = file(of: keyId(of: place))
            if !FileManager.default.fileExists(atPath: key) {
                // Created with its permissions, so that it is never readable by others.
                let pem = Data(try P256PrivateKey.generate().pem().utf8)
                guard FileManager.default.createFile(atPath: key, contents: pem, attributes: [.posixPermissions: 0o600])
                else { throw CommandError("\(key) cannot be written; make the directory writable") }
            }
            return Entry(bundleId: app.bundleId, keyId: keyId(of: place), privateKeyFile: key)
        }
        try JSONEncoder().encode(entries).write(to: URL(fileURLWithPath: list))
    }
}
