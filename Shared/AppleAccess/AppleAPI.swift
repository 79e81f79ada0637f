import AppStore
import Chassis

import struct Foundation.URL

/// Apple's API as a process calls it: a client for each of our apps that has a key. As a part of the process it takes over
/// keys that are exchanged, and closes the connections when everybody who calls has stopped.
public struct AppleAPI: Service {
    /// The clients, by app and environment.
    public let clients: APIClients
    private let transport: APITransport
    private let keys: WatchedKeys

    /// - Parameters:
    ///   - trusted: whose signatures are believed in answers, and whose apps there are.
    ///   - keys: the value of `STOREKEEPER_API_KEYS_FILE`.
    ///   - url: the value of `STOREKEEPER_API_URL`; nil is Apple.
    ///   - limitShare: what part of Apple's limits to use.
    /// - Throws: `ConfigurationProblems` with all that is wrong with keys and address.
    public init(
        _ trusted: Trusted, keys: String, url: String?, limitShare: Double, developmentMode: Bool, clock: APIClock
    ) throws(ConfigurationProblems) {
        var problems = url.flatMap { Self.objection(to: $0, developmentMode: developmentMode) }.map { [$0] } ?? []
        let file: APIKeysFile
        do throws(APIKeysFileFault) {
            file = try APIKeysFile(contentsOf: keys, apps: trusted.apps)
        } catch {
            problems += error.problems.map {
                .unusable(name: "STOREKEEPER_API_KEYS_FILE", reason: "names \(keys): \($0)")
            }
            throw ConfigurationProblems(problems)
        }
        guard problems.isEmpty else { throw ConfigurationProblems(problems) }
        transport = APITransport()
        self.keys = WatchedKeys(path: keys, apps: trusted.apps, first: file)
        clients = APIClients(
            apps: trusted.apps, keys: file, verifier: SignedDataVerifier(trust: trusted.trust, apps: trusted.apps),
            transport: transport, clock: clock, baseURL: url, limitScale: limitShare
        ) { attempt in
            Metric.apiRequests.counter(
                attempt.bundleId, attempt.environment.rawValue, attempt.endpoint.rawValue, attempt.result
            ).increment()
        }
    }

    /// Until the process is told to stop: takes keys that were exchanged. Then closes the connections.
    public func run() async throws {
        await cancelWhenGracefulShutdown {
            while !Task.isCancelled {
                try? await Task.sleep(for: .seconds(5))
                await takeChangedKeys()
            }
        }
        try await close()
    }

    /// Looks whether the file of keys, or a key, has changed, and takes it over. A file with a mistake changes nothing.
    public func takeChangedKeys() async {
        if let changed = await keys.look() { await clients.use(changed) }
    }

    /// Closes the connections; for who calls without being a process's part. Once.
    public func close() async throws { try await transport.shutdown() }

    /// Tokens go to this address: whoever reads them on the way can call Apple in our name.
    private static func objection(to text: String, developmentMode: Bool) -> ConfigurationProblem? {
        let name = "STOREKEEPER_API_URL"
        guard let url = URL(string: text), let host = url.host, ["http", "https"].contains(url.scheme) else {
            return .unusable(name: name, reason: "is not an address such as http://127.0.0.1:8090")
        }
        let isHere = ["127.0.0.1", "localhost", "::1", "[::1]"].contains(host)
        guard url.scheme == "https" || isHere || developmentMode else {
            return .unusable(
                name: name,
                reason: "would carry tokens for Apple's API unencrypted to \(host); use https, or set "
                    + "STOREKEEPER_DEVELOPMENT_MODE=true where nothing is for sale")
        }
        return nil
    }
}
