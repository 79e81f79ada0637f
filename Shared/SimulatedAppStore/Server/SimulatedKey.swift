import Foundation
import ServerAPI
import Signatures

/// An In-App Purchase key: its private half for our client, its public half for the simulated App Store.
struct SimulatedKey: Sendable {
    static let issuerId = "issuer"

    let keyId: String
    let privateKey: P256PrivateKey
    let accepted: AcceptedKey

    var key: APIKey { APIKey(issuerId: Self.issuerId, keyId: keyId, privateKey: privateKey) }

    init(_ keyId: String) throws {
        self.keyId = keyId
        privateKey = try P256PrivateKey.generate()
        accepted = AcceptedKey(issuerId: Self.issuerId, keyId: keyId, publicKey: try privateKey.publicKey())
    }

    /// Writes what STOREKEEPER_APP_STORE_API_KEYS_FILE names, and the private keys that it names in turn.
    /// - Returns: the path of the file, `api-keys.json` in the directory.
    @discardableResult
    static func write(_ keys: [(bundleId: String, key: SimulatedKey)], to directory: URL) throws -> String {
        let entries = try keys.map { bundleId, key in
            try key.privateKey.pem().write(
                to: directory.appending(path: "\(key.keyId).p8"), atomically: true, encoding: .utf8)
            return #"{"bundleId":"\#(bundleId)","issuerId":"\#(issuerId)","keyId":"\#(key.keyId)","#
                + #""privateKeyFile":"\#(key.keyId).p8"}"#
        }
        let file = directory.appending(path: "api-keys.json")
        try "[\(entries.joined(separator: ","))]".write(to: file, atomically: true, encoding: .utf8)
        return file.path
    }
}
