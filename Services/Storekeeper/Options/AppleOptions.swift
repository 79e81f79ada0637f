import ArgumentParser
import Bootstrap
import Chassis
import Commands
import Contracts
import ServerAPI

import struct Foundation.Date

extension AppStoreServerAPI {
    var storeEnvironment: StoreEnvironment { StoreEnvironment(rawValue: environment.rawValue) ?? .production }
}

extension CommandContext {
    /// The same context with a clock that is set back to Apple's where it is known to be ahead of it.
    func notAhead(of apple: AppleTime) -> CommandContext {
        var context = self
        context.now = { [now, unmoved] in apple.setBack(now(), by: unmoved()) }
        return context
    }
}

/// Apple's API: the services' variables, overridden by options.
struct AppleOptions: ParsableArguments {
    @Option(help: "File of apps (default: STOREKEEPER_APPS_FILE).")
    var appsFile: String?

    @Option(
        name: .customLong("api-keys-file"),
        help: "JSON file of App Store Server API keys (default: STOREKEEPER_APP_STORE_API_KEYS_FILE).")
    var keysFile: String?

    @Option(
        name: .customLong("api-url"),
        help: "URL of a simulated API (default: STOREKEEPER_APP_STORE_API_URL, then Apple's API).")
    var url: String?

    @Option(help: "Bundle id of the app (default: the only configured app).")
    var app: String?

    @Option(help: "Environment of the App Store (default: the only one of the app).")
    var environment: StoreEnvironment?

    /// Runs `body` with the client of the selected app and environment.
    /// - Throws: `ConfigurationProblems`; `ValidationError` where the selection is ambiguous.
    func withClient<Result>(
        in context: CommandContext, _ body: (AppStoreServerAPI) async throws -> Result
    ) async throws -> Result {
        try await withAPI(in: context) { api in try await body(try chosen(of: api.clients)) }
    }

    /// Runs `body` with the client of the selected app and environment, and a context whose clock is not ahead of Apple's.
    func withClientAndClock<Result>(
        in context: CommandContext, _ body: (AppStoreServerAPI, CommandContext) async throws -> Result
    ) async throws -> Result {
        try await withAPI(in: context) { api in
            try await body(try chosen(of: api.clients), context.notAhead(of: api.time))
        }
    }

    /// Runs `body` with the clients of all apps that have keys.
    func withClients<Result>(
        in context: CommandContext, _ body: (APIClients) async throws -> Result
    ) async throws -> Result {
        try await withAPI(in: context) { api in try await body(api.clients) }
    }

    private func withAPI<Result>(
        in context: CommandContext, _ body: (AppleAPI) async throws -> Result
    ) async throws -> Result {
        let settings = try settings(in: context)
        let clock = APIClock(now: context.now, random: { .random(in: 0..<1) })
        let api = try AppleAPI(
            TrustWatcher(
                apps: settings.apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode,
                logger: .silent), keys: settings.keys, url: settings.url,
            developmentMode: settings.developmentMode, clock: clock,
            limits: { APIRateLimits(environment: $1, scale: settings.limitShare, clock: clock) })
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(api)) } catch { result = .failure(error) }
        try? await api.close()
        return try result.get()
    }

    /// The keys of the selected app, the preferred one first.
    func keys(in context: CommandContext) throws -> (bundleId: String, keys: [APIKey]) {
        let settings = try settings(in: context)
        let trusted = try TrustSettings(
            apps: settings.apps, roots: settings.roots ?? [], developmentMode: settings.developmentMode)
        let file: APIKeysFile
        do throws(APIKeysFileFault) {
            file = try APIKeysFile(contentsOf: settings.keys, apps: trusted.apps)
        } catch {
            throw ConfigurationProblems(
                error.problems.map {
                    .unusable(name: "STOREKEEPER_APP_STORE_API_KEYS_FILE", reason: "names \(settings.keys): \($0)")
                })
        }
        let fitting = file.credentials.filter { (app ?? $0.key) == $0.key }
        guard fitting.count == 1, let (bundleId, credentials) = fitting.first else {
            let apps = file.credentials.keys.sorted().joined(separator: ", ")
            throw ValidationError(
                app.map { "no API key for app \($0.escaped); there are keys for \(apps)" }
                    ?? "several apps have API keys; choose one with --app: \(apps)")
        }
        return (bundleId, credentials.keys)
    }

    private func chosen(of clients: APIClients) throws -> AppStoreServerAPI {
        let fitting = clients.all.filter(isChosen)
        if fitting.count == 1 { return fitting[0] }
        let names = clients.all.map { "--app \($0.app.bundleId) --environment \($0.environment.rawValue)" }
        throw ValidationError(
            "\(fitting.isEmpty ? "no such app and environment; choose one of" : "ambiguous; choose one of"): "
                + names.joined(separator: ", "))
    }

    /// Whether the options leave in this app and environment.
    func isChosen(_ client: AppStoreServerAPI) -> Bool {
        (app ?? client.app.bundleId) == client.app.bundleId
            && (environment?.rawValue ?? client.environment.rawValue) == client.environment.rawValue
    }

    /// The variables, overridden by the options.
    func settings(in context: CommandContext) throws -> Settings<Variables> {
        var environment = context.environment(of: Self.names)
        environment["STOREKEEPER_APPS_FILE"] = appsFile ?? environment["STOREKEEPER_APPS_FILE"]
        if let keysFile { environment["STOREKEEPER_APP_STORE_API_KEYS_FILE"] = keysFile }
        if let url { environment["STOREKEEPER_APP_STORE_API_URL"] = url }
        return try Settings(Variables(), environment: environment)
    }

    private static let names = [
        "STOREKEEPER_APPS_FILE", "STOREKEEPER_APP_STORE_API_KEYS_FILE", "STOREKEEPER_APP_STORE_API_URL",
        "STOREKEEPER_ROOT_FILES", "STOREKEEPER_DEVELOPMENT_MODE", "STOREKEEPER_APP_STORE_API_LIMIT_SHARE",
    ]

    struct Variables: VariableTable {
        let apps = Variable.appsFile
        let keys = Variable.apiKeysFile
        let url = Variable.apiURL.optional
        let roots = Variable.rootFiles.optional
        let developmentMode = Variable.developmentMode
        // Commands leave the larger share of Apple's rate limit to the services.
        let limitShare = Variable.apiLimitShareOfCommandLine
    }
}
