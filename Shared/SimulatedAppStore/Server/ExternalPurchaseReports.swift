import Synchronization

/// The reports about external purchase tokens that developers sent, by app, environment and request identifier.
final class ExternalPurchaseReports: Sendable {
    private let bodies = Mutex<[String: [UInt8]]>([:])

    /// - Returns: false where there is one of this identifier.
    func add(_ body: [UInt8], _ requestIdentifier: String, of app: App) -> Bool {
        bodies.withLock { bodies in
            let key = Self.key(requestIdentifier, app)
            guard bodies[key] == nil else { return false }
            bodies[key] = body
            return true
        }
    }

    func body(_ requestIdentifier: String, of app: App) -> [UInt8]? {
        bodies.withLock { $0[Self.key(requestIdentifier, app)] }
    }

    private static func key(_ requestIdentifier: String, _ app: App) -> String {
        "\(app.environment.rawValue) \(app.bundleId) \(requestIdentifier.lowercased())"
    }
}
