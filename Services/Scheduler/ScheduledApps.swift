import AppStore
import Contracts
import Logging
import ServerAPI
import Storage
import Synchronization

/// The apps of the moment. Their files are reloaded, so every run of a job reads them again.
final class ScheduledApps: Sendable {
    private let registry: @Sendable () -> AppRegistry
    private let apple: APIClients
    private let deadline: Duration
    private let logger: Logger
    /// Apps without a key that the log has already.
    private let warned = Mutex<Set<String>>([])
    /// Those of the last call of `retired`.
    private let known = Mutex<Set<CoverageStore.App>>([])

    /// - Parameter deadline: of a call to Apple.
    init(accepted: @escaping @Sendable () -> AppRegistry, clients: APIClients, deadline: Duration, logger: Logger) {
        registry = accepted
        apple = clients
        self.deadline = deadline
        self.logger = logger
    }

    /// Every app and environment in the file of apps.
    var accepted: Set<CoverageStore.App> {
        Set(
            registry().all.flatMap { app in
                app.environments.compactMap { StoreEnvironment(rawValue: $0.rawValue) }
                    .map { CoverageStore.App($0, app.bundleId) }
            })
    }

    /// Those that left the file of apps since the last call.
    func retired() -> Set<CoverageStore.App> {
        let accepted = accepted
        return known.withLock { known in
            defer { known = accepted }
            return known.subtracting(accepted)
        }
    }

    /// Those with a key.
    var all: [CoverageStore.App] {
        clients.keys.sorted { ($0.bundleId, $0.environment.rawValue) < ($1.bundleId, $1.environment.rawValue) }
    }

    /// The clients of Apple's API, one for each app and environment with a key.
    var clients: [CoverageStore.App: AppStoreServerAPI] {
        apple.all.reduce(into: [:]) { clients, client in
            guard let environment = StoreEnvironment(rawValue: client.environment.rawValue) else { return }
            var client = client
            client.deadline = deadline
            clients[CoverageStore.App(environment, client.app.bundleId)] = client
        }
    }

    /// Logs each app without a key once.
    func warnOfMissingKeys() {
        let keyed = Set(apple.all.map(\.app.bundleId))
        let missing = Set(registry().all.map(\.bundleId)).subtracting(keyed)
        let new = warned.withLock { warned in
            defer { warned = missing }
            return missing.subtracting(warned)
        }
        for app in new.sorted() {
            logger.warning(
                "No App Store Server API key for app; history checks are disabled for it", metadata: ["app": "\(app)"])
        }
    }
}
