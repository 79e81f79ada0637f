import AppStore
import Chassis
import HTTPLimits
import ServerAPI

import struct Foundation.URL

/// Clients of Apple's API for all apps that have a key. As a service it reloads rotated keys, apps and roots, and closes
/// the connections after all callers have stopped.
package struct AppleAPI: Service {
    /// The clients, by app and environment.
    package let clients: APIClients
    /// Apple's clock, as their answers tell it.
    package let time: AppleTime
    private let transport: APITransport
    private let keys: APIKeysWatcher
    private let watcher: TrustWatcher

    /// - Parameters:
    ///   - watcher: the trusted roots and the configured apps of the moment. Checked here as well.
    ///   - keys: the value of `STOREKEEPER_APP_STORE_API_KEYS_FILE`.
    ///   - url: the value of `STOREKEEPER_APP_STORE_API_URL`; nil is Apple.
    ///   - limits: of each app and environment; nil keeps this process alone to Apple's.
    /// - Throws: `ConfigurationProblems` with all problems of keys and URL.
    package init(
        _ watcher: TrustWatcher, keys: String, url: String?, developmentMode: Bool, clock: APIClock,
        limits: (@Sendable (AcceptedApp, AppStoreEnvironment) -> any APILimits)? = nil
    ) throws(ConfigurationProblems) {
        var problems = url.flatMap { Self.objection(to: $0, developmentMode: developmentMode) }.map { [$0] } ?? []
        let (verifier, trusted) = watcher.trusted
        let file: APIKeysFile
        do throws(APIKeysFileFault) {
            file = try APIKeysFile(contentsOf: keys, apps: trusted.apps)
        } catch {
            problems += error.problems.map {
                .unusable(name: "STOREKEEPER_APP_STORE_API_KEYS_FILE", reason: "names \(keys): \($0)")
            }
            throw ConfigurationProblems(problems)
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        transport = APITransport(userAgent: "Storekeeper/\(BuildInformation.version)")
        let time = AppleTime(elapsed: clock.elapsed)
        self.time = time
        self.watcher = watcher
        self.keys = APIKeysWatcher(path: keys, apps: trusted.apps, first: file)
        clients = APIClients(
            apps: trusted.apps, keys: file, verifier: verifier, transport: transport, clock: clock, baseURL: url,
            limits: limits
        ) { attempt in
            if let date = attempt.serverDate { time.answered(date, after: attempt.duration) }
            Metric.apiRequests.counter(
                attempt.bundleId, attempt.environment.rawValue, attempt.endpoint.rawValue, attempt.result
            ).increment()
        }
    }

    /// Reloads keys, apps and roots until shutdown, then closes the connections.
    package func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(5))
                await reload()
            }
        }
        try await close()
    }

    /// Reloads what has changed of keys, apps and roots. An invalid file changes nothing.
    package func reload() async {
        watcher.reloadIfChanged()
        let (verifier, trusted) = watcher.trusted
        clients.use(verifier)
        if let changed = await keys.reload(apps: trusted.apps) { await clients.use(changed, apps: trusted.apps) }
    }

    /// Closes the connections; call once, where this is not run as a service.
    package func close() async throws { try await transport.shutdown() }

    /// Tokens are sent to this URL; a client that intercepts one can call Apple in the app's name.
    private static func objection(to text: String, developmentMode: Bool) -> ConfigurationProblem? {
        let name = "STOREKEEPER_APP_STORE_API_URL"
        guard let url = URL(string: text), let host = url.host, ["http", "https"].contains(url.scheme),
            url.hasUsablePort
        else {
            return .unusable(name: name, reason: "is not a URL such as http://127.0.0.1:8090")
        }
        let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || isHere || developmentMode else {
            return .unusable(
                name: name,
                reason: "would send tokens for Apple's API unencrypted to \(host); use https, or set "
                    + "STOREKEEPER_DEVELOPMENT_MODE=true outside production")
        }
        return nil
    }
}
