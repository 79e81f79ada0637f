import AppStore
import AppleAccess
import ArgumentParser
import Chassis
import Contracts

/// How Apple's API is called: the services' variables, and options that outweigh them.
struct AppleOptions: ParsableArguments {
    @Option(help: "The file of apps. Default: STOREKEEPER_APPS_FILE.")
    var appsFile: String?

    @Option(name: .customLong("api-keys-file"), help: "The file of API keys. Default: STOREKEEPER_API_KEYS_FILE.")
    var keysFile: String?

    @Option(
        name: .customLong("api-url"),
        help: "A simulator's address in the place of Apple's. Default: STOREKEEPER_API_URL, else Apple's own.")
    var url: String?

    @Option(help: "The app, by its bundle id. Default: the only one there is.")
    var app: String?

    @Option(help: "Production or Sandbox. Default: the only one the app accepts.")
    var environment: StoreEnvironment?

    /// Lends the client of the chosen app and environment.
    /// - Throws: `ConfigurationProblems`; `ValidationError` where the choice is not clear.
    func withClient<Result>(
        in surroundings: Surroundings, _ body: (AppStoreServerAPI) async throws -> Result
    ) async throws -> Result {
        try await withClients(in: surroundings) { clients in try await body(try chosen(of: clients)) }
    }

    /// Lends the clients of all apps for which there are keys.
    func withClients<Result>(
        in surroundings: Surroundings, _ body: (APIClients) async throws -> Result
    ) async throws -> Result {
        let settings = try settings(in: surroundings)
        let trusted = try trusted(settings)
        let api = try AppleAPI(
            trusted, keys: settings.keys, url: settings.url, limitShare: settings.limitShare,
            developmentMode: settings.developmentMode,
            clock: APIClock(now: surroundings.now, random: { .random(in: 0..<1) }))
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(api.clients)) } catch { result = .failure(error) }
        try? await api.close()
        return try result.get()
    }

    /// The keys of the chosen app, that which is tried first at the front.
    func keys(in surroundings: Surroundings) throws -> (bundleId: String, keys: [APIKey]) {
        let settings = try settings(in: surroundings)
        let trusted = try trusted(settings)
        let file: APIKeysFile
        do throws(APIKeysFileFault) {
            file = try APIKeysFile(contentsOf: settings.keys, apps: trusted.apps)
        } catch {
            throw ConfigurationProblems(
                error.problems.map {
                    .unusable(name: "STOREKEEPER_API_KEYS_FILE", reason: "names \(settings.keys): \($0)")
                })
        }
        let fitting = file.credentials.filter { (app ?? $0.key) == $0.key }
        guard fitting.count == 1, let (bundleId, credentials) = fitting.first else {
            let apps = file.credentials.keys.sorted().joined(separator: ", ")
            throw ValidationError(
                app.map { "there is no key for \($0.visible), only for \(apps)" }
                    ?? "say which app is meant with --app: \(apps)")
        }
        return (bundleId, credentials.keys)
    }

    private func trusted(_ settings: Settings<Variables>) throws -> Trusted {
        try Trusted(apps: settings.apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode)
    }

    private func chosen(of clients: APIClients) throws -> AppStoreServerAPI {
        let fitting = clients.all.filter { client in
            (app ?? client.app.bundleId) == client.app.bundleId
                && (environment?.rawValue ?? client.environment.rawValue) == client.environment.rawValue
        }
        if fitting.count == 1 { return fitting[0] }
        let names = clients.all.map { "--app \($0.app.bundleId) --environment \($0.environment.rawValue)" }
        throw ValidationError(
            "\(fitting.isEmpty ? "none of these is meant" : "say which is meant"): \(names.joined(separator: ", "))")
    }

    private func settings(in surroundings: Surroundings) throws -> Settings<Variables> {
        var environment = surroundings.environment(of: Self.names)
        environment["STOREKEEPER_APPS_FILE"] = appsFile ?? environment["STOREKEEPER_APPS_FILE"]
        environment["STOREKEEPER_API_KEYS_FILE"] = keysFile ?? environment["STOREKEEPER_API_KEYS_FILE"]
        environment["STOREKEEPER_API_URL"] = url ?? environment["STOREKEEPER_API_URL"]
        return try Settings(Variables(), environment: environment)
    }

    private static let names = [
        "STOREKEEPER_APPS_FILE", "STOREKEEPER_API_KEYS_FILE", "STOREKEEPER_API_URL", "STOREKEEPER_ROOT_FILES",
        "STOREKEEPER_DEVELOPMENT_MODE", "STOREKEEPER_API_LIMIT_SHARE",
    ]

    struct Variables: VariableTable {
        let apps = Variable.appsFile
        let keys = Variable.apiKeysFile
        let url = Variable.apiURL.optional
        let roots = Variable.rootFiles.optional
        let developmentMode = Variable.developmentMode
        // What is done by hand leaves the larger part to the services.
        let limitShare = Variable.apiLimitShare(default: "0.1")
    }
}
