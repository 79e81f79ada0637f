/// The clients of all apps for which there are keys, one for each environment that the app accepts.
public struct APIClients: Sendable {
    /// Every client, in the order of bundle ids, production first.
    public let all: [AppStoreServerAPI]

    /// - Parameters:
    ///   - baseURL: In the place of Apple's two addresses, for a simulator: it has `/production` and `/sandbox` below one.
    ///   - limitScale: Which part of Apple's limits to use.
    public init(
        apps: AppRegistry, keys: APIKeysFile, verifier: SignedDataVerifier, transport: APITransport, clock: APIClock,
        baseURL: String? = nil, limitScale: Double = 1, retry: APIRetryPolicy = APIRetryPolicy(),
        observe: @escaping @Sendable (APIAttempt) -> Void = { _ in }
    ) {
        all = apps.all.flatMap { app -> [AppStoreServerAPI] in
            guard let credentials = keys.credentials[app.bundleId] else { return [] }
            return [AppStoreEnvironment.production, .sandbox].filter { apps.accepts($0, for: app) }.map { environment in
                AppStoreServerAPI(
                    app: app, environment: environment, credentials: credentials, verifier: verifier,
                    transport: transport, clock: clock,
                    baseURL: baseURL.map { "\($0)\($0.hasSuffix("/") ? "" : "/")\(environment.rawValue.lowercased())" },
                    limits: APIRateLimits(environment: environment, scale: limitScale, clock: clock), retry: retry,
                    observe: observe)
            }
        }
    }

    /// Applies the keys of a reloaded file. An app that had none before needs new clients.
    public func use(_ keys: APIKeysFile) async {
        for client in all { await client.use(keys.credentials[client.app.bundleId] ?? APICredentials(keys: [])) }
    }

    /// Nil where the app is unknown, has no key, or does not accept the environment.
    public subscript(bundleId: String, environment: AppStoreEnvironment) -> AppStoreServerAPI? {
        all.first { $0.app.bundleId == bundleId && $0.environment == environment }
    }
}
