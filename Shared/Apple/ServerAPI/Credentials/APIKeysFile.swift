import AppStore
import Digests
import Signatures
import StrictJSON

import class Foundation.FileManager
import struct Foundation.URL

/// Everything that is wrong with a file of API keys, all at once.
public struct APIKeysFileFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// One sentence each, naming the entry and what to do. Nothing of a key.
    public let problems: [String]

    /// All problems in one line.
    public var description: String { problems.joined(separator: "; ") }
}

/// With which keys Apple's API is called for which app.
///
/// A JSON array of objects with `bundleId`, `issuerId`, `keyId` and `privateKeyFile`, beside the file of apps because more
/// processes may know the apps than hold their keys. Two entries with one `bundleId` are a rotation: the first is tried first.
public struct APIKeysFile: Sendable {
    /// By bundle id.
    public let credentials: [String: APICredentials]
    /// SHA-256 over all that was read, keys included: tells whether anything has changed since, and nothing else.
    public let fingerprint: [UInt8]
    /// What is not as it should be, with what to do: private keys that every user may read, as an ordinary copy of a file is.
    public private(set) var warnings: [String] = []

    /// Reads the file and the `.p8` files that it names; a relative name is beside the file itself.
    ///
    /// - Throws: Every problem of all of them.
    public init(contentsOf path: String, apps: AppRegistry) throws(APIKeysFileFault) {
        guard let bytes = FileManager.default.contents(atPath: path) else {
            throw APIKeysFileFault(problems: ["\(path) cannot be read; check that it is there and may be read"])
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent()
        var writable: [String] = []
        var readable: [String] = []
        try self.init(Array(bytes), apps: apps) { name in
            let file = URL(fileURLWithPath: name, relativeTo: folder).path
            let mode = Self.mode(of: file)
            let advice = "(mode \(String(mode, radix: 8))); chmod 600 it, or 640 with the service's group"
            if mode & 0o002 != 0 {
                writable.append("every user of the machine may write \(file) \(advice)")
            } else if mode & 0o004 != 0 {
                readable.append("every user of the machine may read the private key \(file) \(advice)")
            }
            return FileManager.default.contents(atPath: file).map { String(decoding: $0, as: UTF8.self) }
        }
        guard writable.isEmpty else { throw APIKeysFileFault(problems: writable) }
        warnings = Array(Set(readable)).sorted()
    }

    /// The file's permissions; 0 where there is none, which is said where it is read.
    private static func mode(of file: String) -> Int {
        ((try? FileManager.default.attributesOfItem(atPath: file))?[.posixPermissions] as? Int ?? 0) & 0o7777
    }

    /// - Parameter privateKey: The text of a `.p8` file by its name in the file; nil where it cannot be read.
    init(
        _ bytes: [UInt8], apps: AppRegistry, privateKey: (String) -> String?
    ) throws(APIKeysFileFault) {
        let document: JSONDocument
        do throws(JSONFault) {
            document = try JSONDocument(bytes)
        } catch {
            throw APIKeysFileFault(problems: ["it is not valid JSON: \(error)"])
        }
        guard document.root.kind == .array, !document.root.elements.isEmpty else {
            throw APIKeysFileFault(problems: [#"it has to be a JSON array of at least one key, [{"bundleId": …}]"#])
        }
        var read = bytes
        func privateKeyText(_ name: String) -> String? {
            let text = privateKey(name)
            read += Array((text ?? "").utf8)
            return text
        }
        var keys: [String: [APIKey]] = [:]
        var problems: [String] = []
        for (index, entry) in document.root.elements.enumerated() {
            let place = "key \(index + 1)"
            var reader = KeyEntry(entry)
            if let (bundleId, key) = reader.key(privateKey: privateKeyText) {
                if apps.app(bundleId) == nil {
                    problems.append("\(place): \(bundleId) is not in the file of apps; add it there, or remove the key")
                }
                if keys[bundleId, default: []].contains(where: { $0.keyId == key.keyId }) {
                    problems.append("\(place): \(key.keyId) is listed twice for \(bundleId)")
                }
                keys[bundleId, default: []].append(key)
            }
            problems += reader.problems.map { "\(place): \($0)" }
        }
        guard problems.isEmpty else { throw APIKeysFileFault(problems: problems) }
        credentials = keys.mapValues { APICredentials(keys: $0) }
        fingerprint = SHA256Hash.digest(read)
    }
}

/// One entry of the file, and what is wrong with it.
private struct KeyEntry {
    private static let fields = ["bundleId", "issuerId", "keyId", "privateKeyFile"]

    private let entry: JSONValue
    private(set) var problems: [String] = []

    init(_ entry: JSONValue) { self.entry = entry }

    /// The next key of the file; nil where something is wrong.
    mutating func key(privateKey: (String) -> String?) -> (bundleId: String, APIKey)? {
        guard entry.kind == .object else {
            problems.append("it has to be an object")
            return nil
        }
        for (name, _) in entry.members where !Self.fields.contains(name) {
            problems.append("\(name) is not a field; there are bundleId, issuerId, keyId and privateKeyFile")
        }
        for name in Self.fields where (entry[name]?.string ?? "").isEmpty {
            problems.append("\(name) has to be a text")
        }
        guard problems.isEmpty, let bundleId = entry["bundleId"]?.string, let issuerId = entry["issuerId"]?.string,
            let keyId = entry["keyId"]?.string, let file = entry["privateKeyFile"]?.string
        else { return nil }
        guard let pem = privateKey(file) else {
            problems.append("\(file) cannot be read; check that it is there and that this user may read it")
            return nil
        }
        // OpenSSL's own words are left out: they cannot help, and a key's text shall have no way into a log.
        guard let key = try? P256PrivateKey(pem: pem) else {
            problems.append("\(file) is not a private key on P-256 in PEM, as App Store Connect gives it out")
            return nil
        }
        return (bundleId, APIKey(issuerId: issuerId, keyId: keyId, privateKey: key))
    }
}
