import Logging
import Threads

/// One connection on a thread of its own: libpq may block there, and no two callers ever meet inside it.
///
/// Connects at first use, and again at the first use after it was lost. Nothing is repeated behind the caller's back: the
/// call that met the loss throws `.connectionLost`.
public actor PostgresConnection {
    private let thread: DedicatedThread
    private let configuration: PostgresConfiguration
    private let logger: Logger
    private var handle: ConnectionHandle?
    private var plans = PlanRenewal(now: .now)

    /// The thread the handle lives on.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { thread.asUnownedSerialExecutor() }

    /// Does not connect yet.
    public init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.thread = DedicatedThread(name: "postgres")
        self.configuration = configuration
        self.logger = logger
    }

    /// Connects now, so that a wrong URL is noticed at start rather than at the first notification.
    public func connect() throws(PostgresError) {
        _ = try connected()
    }

    /// Runs one statement in a transaction of its own.
    /// - Throws: `.connectionLost` also means that it may or may not have been done; use `transaction` where that
    ///   matters.
    public func execute(
        _ statement: Statement, _ parameters: any PostgresParameter...
    ) throws(PostgresError) -> Rows {
        let results = try run([Command(statement, all: parameters)])
        return results[0].rows()
    }

    /// Runs several statements in one round trip and as one transaction.
    public func pipeline(_ commands: [Command]) throws(PostgresError) -> [Rows] {
        try run(commands).map { $0.rows() }
    }

    /// Runs a text of several statements. For migrations; a user's words must never get here.
    public func run(unsafeScript script: String) throws(PostgresError) {
        let handle = try connected()
        do { try handle.run(script: script) } catch { throw abandoning(error) }
    }

    /// Asks the server to check a statement against the schema without running it.
    public func prepare(_ statement: Statement) throws(PostgresError) {
        let handle = try connected(toUsePlans: false)
        do { try handle.prepare(statement) } catch { throw abandoning(error) }
    }

    /// Waits until a session runs NOTIFY on a channel, at most so long, and blocks this connection meanwhile: other callers wait.
    /// The caller chooses one channel for the connection.
    /// - Returns: false where the time passed. True at first and after the connection was lost, at once, because a
    ///   notification may have been missed.
    public func awaitNotification(on channel: String, within limit: Duration) throws(PostgresError) -> Bool {
        let handle = try connected(toUsePlans: false)
        guard handle.isListening else {
            do { try handle.listen(to: channel) } catch { throw abandoning(error) }
            return true
        }
        do { return try handle.takeNotifications(within: limit) } catch { throw abandoning(error) }
    }

    /// Process id of the server's half of this connection.
    public func backendProcess() throws(PostgresError) -> Int32 {
        try connected(toUsePlans: false).backendProcess
    }

    /// How the connection travels; connects where it has not.
    public func transport() throws(PostgresError) -> PostgresTransport {
        try connected(toUsePlans: false).transport
    }

    /// Closes the connection; a later use opens another.
    public func close() {
        handle = nil
    }

    /// Runs `body` in one transaction: committed when it returns, rolled back when it throws.
    ///
    /// The body is not asynchronous. It blocks this connection's own thread, therefore no other caller's statement can
    /// slip into the transaction between two of its own.
    /// - Throws: `.commitUnknown` where the connection broke during COMMIT; what the body threw; otherwise the
    ///   statement's error.
    public func transaction<Value: Sendable>(
        isolation: Isolation = .readCommitted, _ body: @Sendable (PostgresTransaction) throws -> Value
    ) throws -> Value {
        let transaction = PostgresTransaction(on: try connected(), isolation: isolation)
        do {
            let value = try body(transaction)
            try transaction.commit()
            return value
        } catch {
            // A connection that cannot even roll back is not worth keeping; the server rolls back when it goes.
            if !transaction.rollBack() { handle = nil }
            throw error
        }
    }

    private func run(_ commands: [Command]) throws(PostgresError) -> [ResultHandle] {
        let handle = try connected()
        do { return try handle.run(commands) } catch { throw abandoning(error) }
    }

    private func connected(toUsePlans: Bool = true) throws(PostgresError) -> ConnectionHandle {
        if let handle, !handle.isLost {
            if toUsePlans, plans.isDue(now: .now, sent: handle.bytesSent) {
                do { try handle.run(script: "discard plans") } catch { throw abandoning(error) }
            }
            return handle
        }
        handle = nil
        let handle = try Self.open(
            configuration,
            explaining: { [hasty = configuration.hasty, logger] in
                BlockingSession.explanation(of: $0) { () throws(PostgresError) in try Self.open(hasty, logger: logger) }
            }, logger: logger)
        self.handle = handle
        plans = PlanRenewal(now: .now, sent: handle.bytesSent)
        logger.debug("connected to Postgres", metadata: ["version": "\(handle.serverVersion)"])
        return handle
    }

    /// A connection with the settings of its session.
    static func open(
        _ configuration: PostgresConfiguration, explaining explain: @escaping (Int32) -> String? = { _ in nil },
        logger: Logger
    ) throws(PostgresError) -> ConnectionHandle {
        let handle = try ConnectionHandle(
            connecting: try configuration.connectionParameters(), answerTimeout: configuration.effectiveAnswerTimeout,
            explaining: explain, logger: logger)
        let settings = try configuration.sessionSettings()
        _ = try handle.run(settings.map { Command(setting, $0.name, $0.value) })
        return handle
    }

    /// Drops a connection that an error made useless.
    private func abandoning(_ error: PostgresError) -> PostgresError {
        if error.meaning == .connectionLost || error.meaning == .commitUnknown || handle?.isLost == true
            || handle?.isInTransaction == true
        {
            handle = nil
        }
        return error
    }
}

/// Not prepared: behind a pooler, another connection may have prepared it, and ``PoolerCheck`` says what that means.
private let setting = Statement(unsafeSQL: "select set_config($1::text, $2::text, false)")
