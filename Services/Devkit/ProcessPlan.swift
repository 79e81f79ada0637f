import Commands
import Contracts
import Foundation
import Operations
import Storage

/// The processes of a run: their number, addresses, environment and files.
struct ProcessPlan: Sendable {
    /// An app whose notifications are accepted.
    struct App: Sendable, Encodable {
        var bundleId: String
        var appAppleId: Int64
        var environments: [StoreEnvironment]
    }

    /// Directory of the logs within the working directory.
    static let logs = "logs"

    var binaries: InstalledBinaries
    /// Working directory: certificate authority, list of apps, port files.
    var directory: String
    var logDirectory: String
    var bootstrapServers: String
    var databaseURL: String
    /// The database roles that setup created and this user may assume: each service gets its own rights only.
    var databaseRoles: Set<Grants.Role> = []
    /// Port of the simulated API, which may not be running yet.
    var apiPort: Int
    /// Port of the console: its address has to be known before it runs.
    var consolePort = 0
    /// Instances per service (default: 1).
    var counts: [ServiceKind: Int] = [:]
    var apps: [App]
    /// Variables inherited by all processes, such as `KAFKA_…`.
    var inherited: [String: String]
    /// Replication factor for `setup`.
    var replicationFactor = "1"
    /// Additional variables per service.
    var settings: [ServiceKind: [String: String]] = [:]

    /// Directory of the simulator's certificates and keys.
    var authority: String { directory + "/authority" }
    var rootFile: String { authority + "/root.pem" }
    var appsFile: String { directory + "/apps.json" }
    var recordKeysFile: String { directory + "/record-keys" }
    /// By which all processes are ahead of the time of day; the simulator moves it.
    var clockFile: String { directory + "/clock" }
    var webhookKeyFile: String { directory + "/webhook-key" }
    var apiKey: APIKeyFile { APIKeyFile(directory: directory) }
    var apiAddress: String { "http://127.0.0.1:\(apiPort)" }
    var consoleAddress: String { "http://127.0.0.1:\(consolePort)" }

    /// Names of all instances of a service: `ingest`, or `verifier-1` and `verifier-2`.
    func names(of kind: ServiceKind) -> [String] {
        let count = counts[kind] ?? 1
        return count == 1 ? [kind.rawValue] : (0..<count).map { $0 + 1 }.map { "\(kind.rawValue)-\($0)" }
    }

    func log(of name: String) -> String { "\(logDirectory)/\(name).log" }
    func adminPortFile(of name: String) -> String { "\(directory)/\(name).admin-port" }
    func portFile(of name: String) -> String { "\(directory)/\(name).port" }

    /// Creates the directories and files that the services read.
    func prepare() throws {
        for directory in [directory, logDirectory] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        try JSONEncoder().encode(apps).write(to: URL(fileURLWithPath: appsFile))
        try writeKey(recordKeysFile)
        try writeKey(webhookKeyFile)
        try apiKey.write(for: apps)
    }

    /// Kept where one exists: records of an earlier run in the same broker are sealed with it, and receivers hold secrets of it.
    private func writeKey(_ file: String) throws {
        guard !FileManager.default.fileExists(atPath: file) else { return }
        var generator = SystemRandomNumberGenerator()
        let key = (0..<4).map { _ in String(format: "%016lx", UInt(generator.next())) }.joined()
        guard
            FileManager.default.createFile(
                atPath: file, contents: Data(key.utf8), attributes: [.posixPermissions: 0o600])
        else { throw CommandError("\(file) cannot be written; make the directory writable") }
    }

    var setupEnvironment: [String: String] {
        inherited.merging([
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers, "DATABASE_URL": databaseURL,
            "STOREKEEPER_REPLICATION_FACTOR": replicationFactor,
        ]) { _, ours in ours }
    }

    /// The environment of an instance. A service rejects variables of other services.
    /// - Parameter port: where it receives requests; 0 lets the system choose.
    func environment(of kind: ServiceKind, named name: String, port: Int = 0) -> [String: String] {
        var environment = inherited.merging([
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0",
            "STOREKEEPER_ADMIN_PORT_FILE": adminPortFile(of: name),
            "STOREKEEPER_SHUTDOWN_DEADLINE": "10s",
            "STOREKEEPER_DEVELOPMENT_CLOCK_FILE": clockFile,
        ]) { _, ours in ours }
        if kind.isServer {
            let prefix = "STOREKEEPER_\(kind.rawValue.uppercased())"
            environment["\(prefix)_ADDRESS"] = "127.0.0.1:\(kind == .console ? consolePort : port)"
            environment["\(prefix)_PORT_FILE"] = portFile(of: name)
        }
        if kind == .console { environment["STOREKEEPER_CONSOLE_URL"] = consoleAddress }
        if kind.trustsApple { environment.merge(trust) { _, ours in ours } }
        if kind.callsApple { environment.merge(api) { _, ours in ours } }
        if kind.holdsRecordKeys { environment.merge(recordKeys) { _, ours in ours } }
        if kind.sendsWebhooks { environment.merge(webhookKey) { _, ours in ours } }
        environment.merge(kind.localVariables) { _, ours in ours }
        if let own = kind.databaseRole { environment.merge(database(as: own)) { _, ours in ours } }
        environment.merge(settings[kind] ?? [:]) { _, explicit in explicit }
        return environment
    }

    /// Shell file by which another terminal finds the programs and this deployment.
    var operatorFile: String { directory + "/environment" }

    /// Writes the shell file, readable by this user only: a URL may contain a password.
    /// - Parameter further: variables that the documentation's command lines use.
    func writeOperatorFile(further: [String: String] = [:]) throws {
        // Another terminal also needs this terminal's settings for broker and database.
        let own = operatorEnvironment.filter { name, value in
            inherited[name] != value || name.hasPrefix("KAFKA_") || name.hasPrefix("PG")
        }.merging(further) { _, further in further }
        let lines = own.sorted { $0.key < $1.key }.map { name, value in
            "export \(name)=\(Self.quoted(value))\n"
        }
        let text = Data((["export PATH=\(Self.quoted(binaries.directory)):\"$PATH\"\n"] + lines).joined().utf8)
        guard
            FileManager.default.createFile(
                atPath: operatorFile, contents: text, attributes: [.posixPermissions: 0o600])
        else { throw CommandError("\(operatorFile) cannot be written; make the directory writable") }
    }

    private static func quoted(_ value: String) -> String { "'\(value.replacing("'", with: #"'\''"#))'" }

    /// The environment of operators, with the database role of the runbook.
    var operatorEnvironment: [String: String] {
        inherited.merging(["KAFKA_BOOTSTRAP_SERVERS": bootstrapServers]) { _, ours in ours }
            .merging(database(as: .operator)) { _, ours in ours }
            .merging(trust.merging(api) { _, ours in ours }) { _, ours in ours }
            .merging(recordKeys) { _, ours in ours }
            .merging(webhookKey) { _, ours in ours }
            .merging([
                "STOREKEEPER_CONSOLE_URL": consoleAddress, "SIMULATOR_URL": apiAddress,
                "STOREKEEPER_DEVELOPMENT_CLOCK_FILE": clockFile,
            ]) { _, ours in ours }
    }

    /// Logs in as the user of the URL and assumes the role.
    private func database(as role: Grants.Role) -> [String: String] {
        var environment = ["DATABASE_URL": databaseURL]
        if databaseRoles.contains(role) {
            let given = inherited["PGOPTIONS"].map { "\($0) " } ?? ""
            environment["PGOPTIONS"] = "\(given)-c role=\(role.rawValue)"
        }
        return environment
    }

    private var trust: [String: String] {
        [
            "STOREKEEPER_APPS_FILE": appsFile, "STOREKEEPER_DEVELOPMENT_MODE": "true",
            "STOREKEEPER_ROOT_FILES": rootFile,
        ]
    }

    private var recordKeys: [String: String] { ["STOREKEEPER_RECORD_KEYS_FILE": recordKeysFile] }

    private var webhookKey: [String: String] { ["STOREKEEPER_WEBHOOK_KEY_FILE": webhookKeyFile] }

    private var api: [String: String] {
        ["STOREKEEPER_APP_STORE_API_KEYS_FILE": apiKey.list, "STOREKEEPER_APP_STORE_API_URL": apiAddress]
    }

    /// The inherited variables: all but those that configure a single service.
    static func inherited(from environment: [String: String]) -> [String: String] {
        let common: Set = ["STOREKEEPER_LOG_LEVEL", "STOREKEEPER_LOG_FORMAT"]
        return environment.filter { name, _ in
            name != "DATABASE_URL" && (!name.hasPrefix("STOREKEEPER_") || common.contains(name))
        }
    }

    /// Settings for the embedded broker: it answers an empty fetch only after the full wait, and the loss of killed members
    /// should be detected soon.
    static let developmentBroker = ["KAFKA_FETCH_WAIT_MAX_MS": "10", "KAFKA_SESSION_TIMEOUT_MS": "6000"]
}
