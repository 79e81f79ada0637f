import Foundation
import Threads

/// A private Postgres for development and tests: needs only the server's executables on this machine.
///
/// Anyone on this machine may log in, so it listens on the loopback address only. It ends, and a temporary directory
/// with it, when `stop` is called, when this object goes, and when this process dies in whatever way.
public actor DevelopmentPostgres {
    /// What a crash of the machine may cost.
    public enum Durability: Sendable {
        /// Nothing. For data that is to be kept.
        case full
        /// Everything; several times faster. A crash of the server process alone costs nothing. For tests.
        case none
    }

    /// Starting failed; says what to do.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// What happened and what to do, in one sentence.
        public let description: String
    }

    /// Where it listens, with user and database, for `PostgresConfiguration`.
    public nonisolated let url: String
    /// On 127.0.0.1.
    public nonisolated let port: Int
    /// Holds the data, the log and the socket.
    public nonisolated let directory: String

    /// The server is told to stop when the thread that started it ends (the kernel counts threads, not processes), and
    /// this one lives as long as the object.
    private let thread: DedicatedThread
    private let process: Process

    /// The thread the handle lives on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Creates the cluster where there is none, starts the server and waits until it answers.
    /// - Parameters:
    ///   - directory: where the data is kept; nil makes a temporary one that is removed at the end.
    ///   - port: nil takes a free one.
    ///   - isInMemory: whether a temporary directory lies in memory, where at least 4 GiB are free for that. On a disk a
    ///     database, which has a thousand files, takes ten times as long to make and to drop.
    ///   - sharedBuffers: how much it keeps in memory of its own, as Postgres writes it.
    public static func start(
        directory: String? = nil, port: Int? = nil, durability: Durability = .full, isInMemory: Bool = false,
        sharedBuffers: String = "128MB"
    ) async throws -> DevelopmentPostgres {
        let programs = try PostgresPrograms.find()
        let cluster = try DevelopmentCluster(directory: directory, isInMemory: isInMemory, programs: programs)
        do {
            let thread = DedicatedThread(name: "postgres-server")
            let server = try await Starter(thread: thread).start(
                cluster, port: port, durability: durability, sharedBuffers: sharedBuffers)
            return DevelopmentPostgres(thread: thread, process: server.process, port: server.port, cluster: cluster)
        } catch {
            cluster.removeIfTemporary()
            throw error
        }
    }

    private init(thread: DedicatedThread, process: sending Process, port: Int, cluster: DevelopmentCluster) {
        self.thread = thread
        self.process = process
        self.port = port
        self.directory = cluster.directory
        self.url = DevelopmentCluster.url(port: port, database: "storekeeper")
    }

    /// Process id of the server's first process, for tests that kill it; nil once it is gone.
    public func serverProcess() -> Int32? {
        let content = try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
        return content?.split(separator: "\n").first.flatMap { Int32($0) }
    }

    /// Ends all sessions and the server, and waits for it.
    public func stop() {
        if process.isRunning { process.terminate() }
        process.waitUntilExit()
    }
}

/// Starts the server on the thread that will stay.
private actor Starter {
    private let thread: DedicatedThread
    nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    init(thread: DedicatedThread) { self.thread = thread }

    struct Server: @unchecked Sendable {  // because it is handed over once and the sender forgets it
        let process: Process
        let port: Int
    }

    func start(
        _ cluster: DevelopmentCluster, port: Int?, durability: DevelopmentPostgres.Durability, sharedBuffers: String
    ) async throws -> Server {
        try cluster.createIfMissing(durability: durability)
        // Another process may take a free port before Postgres does; a few attempts are enough.
        for attempt in 1...5 {
            let candidate = try port ?? FreePort.find()
            let process = try cluster.serve(port: candidate, durability: durability, sharedBuffers: sharedBuffers)
            if try await cluster.answers(port: candidate, process: process) {
                return Server(process: process, port: candidate)
            }
            if port != nil || attempt == 5 {
                throw DevelopmentPostgres.Failure(
                    description: "Postgres did not start; its log \(cluster.directory)/log says: \(cluster.logEnd())")
            }
        }
        throw DevelopmentPostgres.Failure(description: "Postgres did not start")
    }
}
