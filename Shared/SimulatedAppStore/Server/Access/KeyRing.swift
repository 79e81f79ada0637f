import Synchronization

/// The keys that are valid now. They can be added and revoked while the server runs, as in App Store Connect.
final class KeyRing: Sendable {
    private let keys: Mutex<[String: AcceptedKey]>

    init(_ keys: [AcceptedKey]) {
        self.keys = Mutex(Dictionary(keys.map { ($0.keyId, $0) }) { _, last in last })
    }

    var ids: [String] { keys.withLock { $0.keys.sorted() } }

    subscript(keyId: String) -> AcceptedKey? { keys.withLock { $0[keyId] } }

    func add(_ key: AcceptedKey) { keys.withLock { $0[key.keyId] = key } }

    /// - Returns: false if there is no such key.
    func revoke(_ keyId: String) -> Bool { keys.withLock { $0.removeValue(forKey: keyId) != nil } }
}
