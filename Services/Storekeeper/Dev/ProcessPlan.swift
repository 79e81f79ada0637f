import Contracts
import Foundation
import Storage

/// Which processes make the line, where they find each other, and where they leave what.
struct ProcessPlan: Sendable {
    /// An app whose notifications are accepted.
    struct App: Sendable, Encodable {
        var bundleId: String
        var appAppleId: Int64
        var environments: [StoreEnvironment]
    }

    /// The directory of logs within the other one.
    static let logs = "logs"

    var binaries: InstalledBinaries
    /// Ours alone while the line runs: the authority, the verifier's list of apps, the files of ports.
    var directory: String
    var logDirectory: String
    var bootstrapServers: String
    var databaseURL: String
    /// Those that setup made and our user may act as: each service then has the rights of its own and no more.
    var databaseRoles: Set<Grants.Role> = []
    /// Of the simulated API of Apple's, which may not be there yet, or for a while.
    var apiPort: Int
    /// How many of each; one of those that are not named.
    var counts: [ServiceKind: Int] = [:]
    var apps: [App]
    /// What the processes get of our own environment, for example `KAFKA_…`.
    var inherited: [String: String]
    /// Copies of each partition that `setup` asks for.
    var replicationFactor = "1"
    /// What the processes of a role are told besides.
    var settings: [ServiceKind: [String: String]] = [:]

    /// Where the simulator keeps its certificates and keys.
    var authority: String { directory + "/authority" }
    var rootFile: String { authority + "/root.pem" }
    var appsFile: String { directory + "/apps.json" }
    var apiKey: APIKeyFile { APIKeyFile(directory: directory) }
    var apiAddress: String { "http://127.0.0.1:\(apiPort)" }

    /// Names of all instances of a role: `ingest`, or `verifier-1` and `verifier-2`.
    func names(of role: ServiceKind) -> [String] {
        let count = counts[role] ?? 1
        return count == 1 ? [role.rawValue] : (1...count).map { "\(role.rawValue)-\($0)" }
    }

    func log(of name: String) -> String { "\(logDirectory)/\(name).log" }
    func adminPortFile(of name: String) -> String { "\(directory)/\(name).admin-port" }
    func ingestPortFile(of name: String) -> String { "\(directory)/\(name).port" }

    /// Makes the directories and the files that the services read.
    func prepare() throws {
        for directory in [directory, logDirectory] {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        }
        try JSONEncoder().encode(apps).write(to: URL(fileURLWithPath: appsFile))
        try apiKey.write(for: apps)
    }

    /// The whole environment of `setup`.
    var setupEnvironment: [String: String] {
        inherited.merging([
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers, "DATABASE_URL": databaseURL,
            "STOREKEEPER_REPLICATION_FACTOR": replicationFactor,
        ]) { _, ours in ours }
    }

    /// The whole environment of an instance. A service refuses variables that are not its own.
    /// - Parameter ingestPort: 0 lets the system choose.
    func environment(of role: ServiceKind, named name: String, ingestPort: Int = 0) -> [String: String] {
        var environment = inherited.merging([
            "KAFKA_BOOTSTRAP_SERVERS": bootstrapServers,
            "STOREKEEPER_ADMIN_ADDRESS": "127.0.0.1:0",
            "STOREKEEPER_ADMIN_PORT_FILE": adminPortFile(of: name),
            "STOREKEEPER_SHUTDOWN_DEADLINE": "10s",
        ]) { _, ours in ours }
        switch role {
        case .ingest:
            environment["STOREKEEPER_INGEST_ADDRESS"] = "127.0.0.1:\(ingestPort)"
            environment["STOREKEEPER_INGEST_PORT_FILE"] = ingestPortFile(of: name)
        case .verifier: environment.merge(trust) { _, ours in ours }
        case .recovery: environment.merge(trust.merging(api) { _, ours in ours }) { _, ours in ours }
        case .scheduler:
            environment.merge(trust.merging(api) { _, ours in ours }) { _, ours in ours }
            // A day on one's desk has minutes. What the simulator's book does not name is not sent: a verdict compares
            // with the book.
            environment["STOREKEEPER_FAILURES_INTERVAL"] = "5s"
            environment["STOREKEEPER_CANARY_INTERVAL"] = "0s"
            environment["STOREKEEPER_OVERDUE_BUDGET"] = "0"
        case .deduplicator, .stateUpdater: break
        }
        if let own = role.databaseRole { environment.merge(database(as: own)) { _, ours in ours } }
        environment.merge(settings[role] ?? [:]) { _, explicit in explicit }
        return environment
    }

    /// For a shell: the other commands then work on this line.
    var operatorFile: String { directory + "/environment" }

    /// Writes that file; nobody else may read it, for a URL may hold a password.
    func writeOperatorFile() throws {
        // Another terminal lacks also what this one was given from outside to reach the broker and the database.
        let own = operatorEnvironment.filter { name, value in
            inherited[name] != value || name.hasPrefix("KAFKA_") || name.hasPrefix("PG")
        }
        let lines = own.sorted { $0.key < $1.key }.map { name, value in
            "export \(name)='\(value.replacing("'", with: #"'\''"#))'\n"
        }
        let text = Data(lines.joined().utf8)
        guard
            FileManager.default.createFile(
                atPath: operatorFile, contents: text, attributes: [.posixPermissions: 0o600])
        else { throw CommandError("\(operatorFile) cannot be written; make the directory writable") }
    }

    /// What whoever works by hand is told, as a member of the role that the runbook gives to operators.
    var operatorEnvironment: [String: String] {
        inherited.merging(["KAFKA_BOOTSTRAP_SERVERS": bootstrapServers]) { _, ours in ours }
            .merging(database(as: .scheduler)) { _, ours in ours }
            .merging(trust.merging(api) { _, ours in ours }) { _, ours in ours }
    }

    /// Whoever the URL names logs in, and is nothing but the role from then on.
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

    private var api: [String: String] {
        ["STOREKEEPER_API_KEYS_FILE": apiKey.list, "STOREKEEPER_API_URL": apiAddress]
    }

    /// What is handed on of an environment: everything but what configures a single service.
    static func inherited(from environment: [String: String]) -> [String: String] {
        let common: Set = ["STOREKEEPER_LOG_LEVEL", "STOREKEEPER_LOG_FORMAT"]
        return environment.filter { name, _ in
            name != "DATABASE_URL" && (!name.hasPrefix("STOREKEEPER_") || common.contains(name))
        }
    }

    /// Settings for the development broker: it answers an empty fetch only after the whole wait, and members that were
    /// killed should be missed soon.
    static let developmentBroker = ["KAFKA_FETCH_WAIT_MAX_MS": "10", "KAFKA_SESSION_TIMEOUT_MS": "6000"]
}
