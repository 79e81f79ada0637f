import AppStore
import Synchronization

/// The clients of all apps for which there are keys, one for each environment that the app accepts.
///
/// A value whose copies share the clients, so that all of them follow reloaded keys and apps.
public struct APIClients: Sendable {
    private final class Current: Sendable {
        let state: Mutex<(clients: [AppStoreServerAPI], verifier: SignedDataVerifier)>

        init(_ clients: [AppStoreServerAPI], _ verifier: SignedDataVerifier) { state = Mutex((clients, verifier)) }
    }

    private let current: Current
    private let client:
        @Sendable (AcceptedApp, AppStoreEnvironment, APICredentials, SignedDataVerifier) -> AppStoreServerAPI

    /// Every client, in the order of bundle ids, production first.
    public var all: [AppStoreServerAPI] { current.state.withLock { $0.clients } }

    /// - Parameters:
    ///   - baseURL: In the place of Apple's two addresses, for a simulator: it has `/production` and `/sandbox` below one.
    ///   - limits: of each app and environment.
    public init(
        apps: AppRegistry, keys: APIKeysFile, verifier: SignedDataVerifier, transport: APITransport, clock: APIClock,
        baseURL: String? = nil, limits: (@Sendable (AcceptedApp, AppStoreEnvironment) -> any APILimits)? = nil,
        observe: @escaping @Sendable (APIAttempt) -> Void = { _ in }
    ) {
        let client:
            @Sendable (AcceptedApp, AppStoreEnvironment, APICredentials, SignedDataVerifier) -> AppStoreServerAPI = {
                app, environment, credentials, verifier in
                AppStoreServerAPI(
                    app: app, environment: environment, credentials: credentials, verifier: verifier,
                    transport: transport, clock: clock,
                    baseURL: baseURL.map { "\($0)\($0.hasSuffix("/") ? "" : "/")\(environment.rawValue.lowercased())" },
                    limits: limits?(app, environment) ?? APIRateLimits(environment: environment, clock: clock),
                    observe: observe)
            }
        self.client = client
        current = Current(
            Self.places(apps, keys).map { app, environment, credentials in
                client(app, environment, credentials, verifier)
            }, verifier)
    }

    /// Applies the keys of a reloaded file. An app that had none before gets clients with ``use(_:apps:)``.
    public func use(_ keys: APIKeysFile) async {
        for client in all { await client.use(keys.credentials[client.app.bundleId] ?? APICredentials(keys: [])) }
    }

    /// Applies reloaded keys and apps. Clients of apps as before stay, with what they have used of Apple's limits.
    public func use(_ keys: APIKeysFile, apps: AppRegistry) async {
        let places = Self.places(apps, keys)
        current.state.withLock { state in
            state.clients = places.map { app, environment, credentials in
                state.clients.first { $0.app == app && $0.environment == environment }
                    ?? client(app, environment, credentials, state.verifier)
            }
        }
        await use(keys)
    }

    /// Applies reloaded roots and apps to what is verified in answers from now on.
    public func use(_ verifier: SignedDataVerifier) {
        current.state.withLock { state in
            state.verifier = verifier
            for index in state.clients.indices { state.clients[index].verifier = verifier }
        }
    }

    /// Nil where the app is unknown, has no key, or does not accept the environment.
    public subscript(bundleId: String, environment: AppStoreEnvironment) -> AppStoreServerAPI? {
        all.first { $0.app.bundleId == bundleId && $0.environment == environment }
    }

    private static func places(
        _ apps: AppRegistry, _ keys: APIKeysFile
    ) -> [(AcceptedApp, AppStoreEnvironment, APICredentials)] {
        apps.all.flatMap { app -> [(AcceptedApp, AppStoreEnvironment, APICredentials)] in
            guard let credentials = keys.credentials[app.bundleId] else { return [] }
            return [AppStoreEnvironment.production, .sandbox].filter { apps.accepts($0, for: app) }.map {
                (app, $0, credentials)
            }
        }
    }
}
