import AppStore
import Foundation
import Signatures
import StrictJSON

/// The API keys that the simulator creates for its clients, beside the certificates of its authority.
///
/// Each is a file `AuthKey_KEYID.p8`; `api-keys.json` lists them for every app as a client's configuration does:
/// `[{"bundleId","issuerId","keyId","privateKeyFile"}]`, the files named relative to the list.
struct KeyFiles: Sendable {
    private static let issuerId = "5a1d57e2-0000-4000-8000-5704ee9e4001"

    let directory: URL
    let bundleIds: [String]

    private struct Entry: Codable {
        var bundleId: String
        var issuerId: String
        var keyId: String
        var privateKeyFile: String
    }

    private var list: URL { directory.appendingPathComponent("api-keys.json") }

    /// The keys of the list, or one created now if there is no list.
    func loadOrCreate() throws -> [AcceptedKey] {
        let entries = try entries()
        guard !entries.isEmpty else { return [try add()] }
        // The apps of this run may differ from those of the last.
        try write(keyIds: Self.keyIds(of: entries))
        return try Self.keyIds(of: entries).map { keyId in
            let pem = try String(contentsOf: file(of: keyId), encoding: .utf8)
            return AcceptedKey(
                issuerId: Self.issuerId, keyId: keyId, publicKey: try P256PrivateKey(pem: pem).publicKey())
        }
    }

    /// Creates another key.
    func add() throws -> AcceptedKey {
        let key = try P256PrivateKey.generate()
        let publicKey = try key.publicKey()
        let keyId = Self.keyId(of: publicKey)
        let file = file(of: keyId)
        // Created with its permissions, so that it is never readable by others.
        guard
            FileManager.default.createFile(
                atPath: file.path, contents: Data(try key.pem().utf8), attributes: [.posixPermissions: 0o600])
        else { throw SimulatorError("\(file.path) cannot be written: make the directory writable") }
        try write(keyIds: Self.keyIds(of: entries()) + [keyId])
        return AcceptedKey(issuerId: Self.issuerId, keyId: keyId, publicKey: publicKey)
    }

    /// Takes a key off the list; its file stays, so that a test can use the revoked key.
    func remove(_ keyId: String) throws { try write(keyIds: Self.keyIds(of: entries()).filter { $0 != keyId }) }

    private func file(of keyId: String) -> URL { directory.appendingPathComponent("AuthKey_\(keyId).p8") }

    private func entries() throws -> [Entry] {
        guard FileManager.default.fileExists(atPath: list.path) else { return [] }
        do { return try JSONDecoder().decode([Entry].self, from: Data(contentsOf: list)) } catch {
            throw SimulatorError(
                "\(list.path) cannot be read: delete it and start again, which creates another (\(error))")
        }
    }

    private func write(keyIds: [String]) throws {
        let entries = keyIds.flatMap { keyId in
            bundleIds.map {
                Entry(
                    bundleId: $0, issuerId: Self.issuerId, keyId: keyId,
                    privateKeyFile: file(of: keyId).lastPathComponent)
            }
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try encoder.encode(entries).write(to: list, options: .atomic)
    }

    /// Each once, in the order of the list.
    private static func keyIds(of entries: [Entry]) -> [String] {
        var seen: Set<String> = []
        return entries.map(\.keyId).filter { seen.insert($0).inserted }
    }

    /// Ten capital letters and digits like Apple's, derived from the key.
    private static func keyId(of key: P256PublicKey) -> String {
        let alphabet = Array("ABCDEFGHJKLMNPQRSTUVWXYZ23456789")
        return String(key.uncompressedPoint.suffix(10).map { alphabet[Int($0) % alphabet.count] })
    }
}

extension KeyFiles {
    /// - Parameter apps: each as often as it has environments.
    init(directory: URL, apps: [App]) {
        var seen: Set<String> = []
        self.init(directory: directory, bundleIds: apps.map(\.bundleId).filter { seen.insert($0).inserted })
    }
}
