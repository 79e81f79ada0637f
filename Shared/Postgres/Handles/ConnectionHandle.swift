import CPQ
import Logging

/// Owns one `PGconn`, from connecting to `PQfinish`. Blocks its thread; used by one thread at a time.
final class ConnectionHandle {
    private let pointer: OpaquePointer
    private let notices: NoticeLog
    /// SQL by name of what the server has prepared for us.
    private var prepared: [String: String] = [:]
    /// A conversation broken off in its middle cannot be taken up again, even where the socket still lives.
    private var isBroken = false

    /// Connects, blocking until the server answered or the connect timeout of every host passed.
    init(connecting parameters: [(keyword: String, value: String)], logger: Logger) throws(PostgresError) {
        let keywords = CStrings(parameters.map(\.keyword))
        let values = CStrings(parameters.map(\.value))
        // expand_dbname = 1: `dbname` is the URL.
        guard let pointer = PQconnectdbParams(keywords.pointer, values.pointer, 1) else {
            throw PostgresError(.unavailable, "libpq found no memory for a connection")
        }
        guard PQstatus(pointer) == CONNECTION_OK else {
            defer { PQfinish(pointer) }
            throw Self.refusal(String(cString: PQerrorMessage(pointer)).trimmingNewlines)
        }
        self.pointer = pointer
        self.notices = NoticeLog(logger: logger)
        // libpq calls back on this thread inside its other functions; it borrows `notices`, which `self` keeps alive
        // until after PQfinish.
        PQsetNoticeProcessor(pointer, noticeProcessor, Unmanaged.passUnretained(notices).toOpaque())
    }

    deinit { PQfinish(pointer) }

    var isLost: Bool { isBroken || PQstatus(pointer) != CONNECTION_OK }
    var isInTransaction: Bool { PQtransactionStatus(pointer) != PQTRANS_IDLE }
    /// Process id of the server's half, for `pg_terminate_backend`.
    var backendProcess: Int32 { PQbackendPID(pointer) }
    /// Such as 150004.
    var serverVersion: Int32 { PQserverVersion(pointer) }

    /// Several statements separated by semicolons, in one implicit transaction unless they say otherwise.
    func run(script: String) throws(PostgresError) {
        guard !script.utf8.contains(0) else { throw PostgresError(.programming, "the script holds a NUL byte") }
        guard let result = PQexec(pointer, script) else { throw lost() }
        if let error = ResultHandle(takingOwnershipOf: result).error { throw error }
    }

    /// Prepares a statement and leaves the types of its parameters to the server.
    func prepare(_ statement: Statement) throws(PostgresError) {
        guard let name = statement.name, try !isPrepared(statement, as: name) else { return }
        guard let result = PQprepare(pointer, name, statement.sql, 0, nil) else { throw lost() }
        if let error = ResultHandle(takingOwnershipOf: result).error { throw error.during(statement) }
        prepared[name] = statement.sql
    }

    /// Sends all commands, and what must be prepared for them, in one round trip. They run in order until the first
    /// that fails; without an explicit transaction they are one implicit transaction.
    func run(_ commands: [Command]) throws(PostgresError) -> [ResultHandle] {
        // Encoding first: a refused value must not leave half a pipeline behind.
        let encoded = try commands.map { command throws(PostgresError) in
            do throws(PostgresError) {
                return try EncodedParameters(command.parameters)
            } catch {
                throw error.during(command.statement)
            }
        }
        for command in commands { _ = try isPrepared(command.statement, as: command.statement.name ?? "") }
        guard PQenterPipelineMode(pointer) == 1 else { throw lost() }
        var steps: [Step] = []
        var named: [String: String] = [:]
        for (index, (command, parameters)) in zip(commands, encoded).enumerated() {
            let statement = command.statement
            if let name = statement.name, prepared[name] == nil, named[name] == nil {
                named[name] = statement.sql
                guard parameters.sendPrepare(on: pointer, name: name, sql: statement.sql) else { throw lost() }
                steps.append(.prepare(index))
            }
            guard parameters.send(statement, on: pointer) else { throw lost() }
            steps.append(.execute(index))
        }
        guard PQpipelineSync(pointer) == 1 else { throw lost() }
        let outcome = receive(steps, of: commands)
        guard PQexitPipelineMode(pointer) == 1 else { throw outcome.failure ?? lost() }
        if let failure = outcome.failure { throw failure }
        return outcome.results
    }

    private enum Step {
        case prepare(Int)
        case execute(Int)
    }

    /// Reads what belongs to each step, in order, and the end of the pipeline. Keeps the first failure, because the
    /// following ones only say that there was an earlier one.
    private func receive(
        _ steps: [Step], of commands: [Command]
    ) -> (results: [ResultHandle], failure: PostgresError?) {
        var results: [ResultHandle] = []
        var failure: PostgresError?
        for step in steps {
            let result = next()
            switch step {
            case .prepare(let index):
                let statement = commands[index].statement
                if let error = result.map(\.error) ?? lost() {
                    failure = failure ?? error.during(statement)
                } else if let name = statement.name {
                    prepared[name] = statement.sql
                }
            case .execute(let index):
                if let error = result.map(\.error) ?? lost() {
                    failure = failure ?? error.during(commands[index].statement)
                } else if let result {
                    results.append(result)
                }
            }
        }
        // The end of the pipeline; on a lost connection there is none.
        while let result = PQgetResult(pointer) { PQclear(result) }
        return (results, failure)
    }

    /// The result of one statement of a pipeline and the nil that follows it.
    private func next() -> ResultHandle? {
        guard let first = PQgetResult(pointer) else { return nil }
        let result = ResultHandle(takingOwnershipOf: first)
        while let more = PQgetResult(pointer) { PQclear(more) }
        return result
    }

    private func isPrepared(_ statement: Statement, as name: String) throws(PostgresError) -> Bool {
        guard let sql = prepared[name] else { return false }
        guard sql == statement.sql else {
            throw PostgresError(.programming, "two statements are named “\(name)”; give one another name")
        }
        return true
    }

    private func lost() -> PostgresError {
        isBroken = true
        let message = String(cString: PQerrorMessage(pointer)).trimmingNewlines
        return PostgresError(.connectionLost, message.isEmpty ? "the connection to Postgres was lost" : message)
    }

    /// libpq keeps no SQLSTATE of a failed connect, so here, and only here, the server's text must decide between what
    /// an operator must repair and what time repairs. In doubt it is time.
    private static func refusal(_ message: String) -> PostgresError {
        let needsOperator = ["authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist"]
        let isPermanent = needsOperator.contains { message.contains($0) && !message.contains("No such file") }
        return PostgresError(isPermanent ? .notPermitted : .connectionLost, message)
    }
}
