import Bootstrap
import Chassis
import Foundation
import ServerAPI
import Signatures
import Testing

@Suite struct AppleAPITests {
    private let files: Files

    init() throws {
        files = try Files()
        try files.write("key.p8", try P256PrivateKey.generate().pem())
        try files.write(
            "keys.json",
            #"[{"bundleId": "com.example.reader", "issuerId": "i", "keyId": "k", "privateKeyFile": "key.p8"}]"#)
    }

    private func watcher(developmentMode: Bool = false) throws -> TrustWatcher {
        try TrustWatcher(
            apps: files.path("apps.json"), roots: [], developmentMode: developmentMode,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    private func problems(keys: String = "keys.json", url: String?, developmentMode: Bool = false) async throws
        -> [String]
    {
        let watcher = try watcher(developmentMode: developmentMode)
        do {
            let api = try AppleAPI(
                watcher, keys: files.path(keys), url: url, developmentMode: developmentMode,
                clock: APIClock(now: { Date() }, random: { 0 }))
            try await api.close()
            return []
        } catch let found as ConfigurationProblems {
            return found.problems.map(\.description)
        }
    }

    @Test func `AppleAPI has a client for each environment of an app that has a key`() async throws {
        let api = try AppleAPI(
            watcher(), keys: files.path("keys.json"), url: nil, developmentMode: false,
            clock: APIClock(now: { Date() }, random: { 0 }))
        #expect(api.clients.all.map(\.environment) == [.production, .sandbox])
        try await api.close()
    }

    @Test func `AppleAPI follows an app that is added to the files of apps and keys`() async throws {
        let api = try AppleAPI(
            watcher(), keys: files.path("keys.json"), url: nil, developmentMode: false,
            clock: APIClock(now: { Date() }, random: { 0 }))
        try files.write(
            "apps.json",
            #"""
            [{"bundleId": "com.example.reader", "appAppleId": 1234567890, "environments": ["Production", "Sandbox"]},
             {"bundleId": "com.example.added", "appAppleId": 7, "environments": ["Production", "Sandbox"]}]
            """#)
        try files.write(
            "keys.json",
            #"""
            [{"bundleId": "com.example.reader", "issuerId": "i", "keyId": "k", "privateKeyFile": "key.p8"},
             {"bundleId": "com.example.added", "issuerId": "i", "keyId": "k", "privateKeyFile": "key.p8"}]
            """#)
        await api.reload()
        #expect(api.clients.all.count == 4)
        #expect(api.clients["com.example.added", .sandbox] != nil)
        try await api.close()
    }

    @Test(arguments: [
        "http://127.0.0.1:8090", "http://localhost:8090", "http://[::1]:8090", "https://simulator.example",
    ])
    func `Tokens may go unencrypted to this machine, and encrypted anywhere`(url: String) async throws {
        #expect(try await problems(url: url).isEmpty)
    }

    @Test func `Tokens go unencrypted elsewhere in development mode only`() async throws {
        let found = try await problems(url: "http://simulator:8090")
        #expect(found.count == 1)
        #expect(found.first?.contains("STOREKEEPER_DEVELOPMENT_MODE") == true)
        #expect(try await problems(url: "http://simulator:8090", developmentMode: true).isEmpty)
    }

    @Test func `AppleAPI reports all mistakes at once`() async throws {
        let found = try await problems(keys: "absent.json", url: "simulator:8090")
        #expect(found.contains { $0.contains("STOREKEEPER_APP_STORE_API_URL") })
        #expect(found.contains { $0.contains("STOREKEEPER_APP_STORE_API_KEYS_FILE") && $0.contains("absent.json") })
        let beyond = try await problems(url: "http://127.0.0.1:65536")
        #expect(beyond.first?.contains("STOREKEEPER_APP_STORE_API_URL") == true)
    }
}
