import CPQ
import Foundation
import Postgres

/// The directory of a development server and the programs run on it.
struct DevelopmentCluster: Sendable {
    let directory: String
    let isTemporary: Bool
    private let programs: PostgresPrograms
    /// Postgres refuses to run as root, so root lends it to the user that the package made.
    private let isRoot = geteuid() == 0

    private var data: String { directory + "/data" }
    private var log: String { directory + "/log" }

    /// Makes the directory.
    init(directory: String?, isInMemory: Bool, programs: PostgresPrograms) throws {
        self.programs = programs
        isTemporary = directory == nil
        if let directory {
            self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
            try FileManager.default.createDirectory(atPath: self.directory, withIntermediateDirectories: true)
        } else {
            self.directory = try TemporaryDirectory.make(prefix: "storekeeper-postgres-", isInMemory: isInMemory)
        }
        guard isRoot else { return }
        guard let user = getpwnam("postgres") else {
            throw failure("Postgres refuses to run as root and there is no user “postgres”; run this as another user")
        }
        guard chown(self.directory, user.pointee.pw_uid, user.pointee.pw_gid) == 0 else {
            throw failure("the directory \(self.directory) cannot be given to the user “postgres”")
        }
    }

    static func url(port: Int, database: String) -> String {
        "postgres://storekeeper@127.0.0.1:\(port)/\(database)"
    }

    func createIfMissing(durability: DevelopmentPostgres.Durability) throws {
        guard !FileManager.default.fileExists(atPath: data + "/PG_VERSION") else { return }
        var arguments = [
            programs.initdb, "--pgdata", data, "--username", "storekeeper", "--auth", "trust", "--encoding", "UTF8",
            "--locale", "C",
        ]
        if durability == .none { arguments.append("--no-sync") }
        let process = try start(asPostgres(arguments))
        process.waitUntilExit()
        guard process.terminationStatus == 0 else {
            throw failure("the database cluster in \(data) could not be created: \(logEnd())")
        }
    }

    /// Starts the server under a small supervisor that stops it when this process dies, and clears up.
    func serve(
        port: Int, durability: DevelopmentPostgres.Durability, sharedBuffers: String
    ) throws -> Process {
        // A socket's path may have 107 bytes.
        let socket = directory.utf8.count < 80 ? directory : ""
        var arguments = [
            programs.postgres, "-D", data, "-c", "listen_addresses=127.0.0.1", "-c", "port=\(port)",
            "-c", "unix_socket_directories=\(socket)", "-c", "max_connections=500", "-c",
            "shared_buffers=\(sharedBuffers)",
            // A migration locks every object it makes, and tests migrate many databases at once.
            "-c", "max_wal_size=2GB", "-c", "max_locks_per_transaction=512",
        ]
        if durability == .none {
            arguments += ["-c", "fsync=off", "-c", "full_page_writes=off"]
        }
        let supervised = ["/bin/sh", "-c", supervisor, "supervisor", isTemporary ? directory : ""] + arguments
        return try start(asPostgres(supervised, endsWithParent: true))
    }

    /// Waits until the server takes connections and has our database.
    /// - Returns: false where the server ended instead.
    func answers(port: Int, process: Process) async throws -> Bool {
        let probe = Self.url(port: port, database: "postgres") + "?connect_timeout=2"
        // 60 seconds: recovery after a crash takes a while on a slow disk.
        for _ in 0..<1200 {
            guard process.isRunning else { return false }
            if PQping(probe) == PQPING_OK { return try await makeDatabase(port: port) }
            try await Task.sleep(for: .milliseconds(50))
        }
        process.terminate()
        return false
    }

    private func makeDatabase(port: Int) async throws -> Bool {
        let url = Self.url(port: port, database: "postgres")
        let connection = PostgresConnection(
            PostgresConfiguration(url: url, applicationName: "storekeeper-development"),
            logger: .init(label: "postgres"))
        let known = try await connection.execute(
            Statement("find-database", "select 1 from pg_database where datname = 'storekeeper'"))
        if known.isEmpty { try await connection.run(unsafeScript: "create database storekeeper") }
        await connection.close()
        return true
    }

    func removeIfTemporary() {
        if isTemporary { try? FileManager.default.removeItem(atPath: directory) }
    }

    /// The last lines the programs wrote.
    func logEnd() -> String {
        let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? "(nothing)"
        return text.split(separator: "\n").suffix(5).joined(separator: " / ")
    }

    private func start(_ arguments: [String]) throws -> Process {
        if !FileManager.default.fileExists(atPath: log) {
            guard FileManager.default.createFile(atPath: log, contents: nil) else {
                throw failure("\(log) cannot be written")
            }
        }
        guard let output = FileHandle(forWritingAtPath: log) else { throw failure("\(log) cannot be written") }
        _ = try output.seekToEnd()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.currentDirectoryURL = URL(fileURLWithPath: "/")
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = output
        try SignalMask.withNothingBlocked { try process.start() }
        return process
    }

    private func asPostgres(_ arguments: [String], endsWithParent: Bool = false) -> [String] {
        var prefix: [String] = []
        if isRoot { prefix += ["--reuid=postgres", "--regid=postgres", "--init-groups"] }
        #if os(Linux)
            if endsWithParent { prefix += ["--pdeathsig=TERM"] }
        #endif
        return prefix.isEmpty ? arguments : ["/usr/bin/setpriv"] + prefix + ["--"] + arguments
    }

    private func failure(_ text: String) -> DevelopmentPostgres.Failure {
        DevelopmentPostgres.Failure(description: text)
    }
}

/// SIGTERM (from `stop`, or from the kernel when our process died) becomes SIGINT, the server's fast shutdown.
private let supervisor = """
    temporary="$1"; shift
    "$@" &
    server=$!
    trap 'kill -INT "$server" 2>/dev/null' TERM INT
    while kill -0 "$server" 2>/dev/null; do wait "$server"; done
    wait "$server"; status=$?
    [ -z "$temporary" ] || rm -rf -- "$temporary"
    exit "$status"
    """
