import CPQ
import Foundation
import Logging

/// Owns one `PGconn`, from connecting to `PQfinish`. Blocks its thread; used by one thread at a time.
final class ConnectionHandle {
    private let pointer: OpaquePointer
    private let notices: NoticeLog
    private(set) var isListening = false
    /// Of parameters, since the connection was opened.
    private(set) var bytesSent = 0
    /// SQL by name of what the server has prepared for us.
    private var prepared: [String: String] = [:]
    /// A conversation broken off in its middle cannot be taken up again, even where the socket still lives.
    private var isBroken = false
    /// Whether something was sent whose end was not, and what.
    private var isPipelining = false
    private var unanswered: [Step] = []
    /// SQL by name of what was sent to be prepared and is not answered yet.
    private var preparing: [String: String] = [:]
    /// How long the server may be silent while an answer is due; nil waits for ever.
    private let answerTimeout: Duration?
    /// Asked once for each answer that is late, with ``backendProcess``: what the statement waits for.
    private let explain: (Int32) -> String?
    private var explanation: String?
    private var isSilent = false

    /// Connects, blocking until the server answered or the connect timeout of every host passed.
    init(
        connecting parameters: [(keyword: String, value: String)], answerTimeout: Duration?,
        explaining explain: @escaping (Int32) -> String? = { _ in nil }, logger: Logger
    ) throws(PostgresError) {
        let keywords = CStrings(parameters.map(\.keyword))
        let values = CStrings(parameters.map(\.value))
        // expand_dbname = 1: `dbname` is the URL.
        guard let pointer = PQconnectdbParams(keywords.pointer, values.pointer, 1) else {
            throw PostgresError(.unavailable, "libpq found no memory for a connection")
        }
        guard PQstatus(pointer) == CONNECTION_OK else {
            defer { PQfinish(pointer) }
            throw Self.rejection(String(cString: PQerrorMessage(pointer)).trimmingNewlines)
        }
        self.pointer = pointer
        self.answerTimeout = answerTimeout
        self.explain = explain
        // Otherwise sending to a server that reads nothing would block for ever.
        PQsetnonblocking(pointer, 1)
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

    /// With what the environment added to the URL.
    var transport: PostgresTransport {
        var options: [String: String] = [:]
        let first = PQconninfo(pointer)
        defer { PQconninfoFree(first) }
        var option = first
        while let current = option, let keyword = current.pointee.keyword {
            options[String(cString: keyword)] = current.pointee.val.map { String(cString: $0) }
            option = current.advanced(by: 1)
        }
        return PostgresTransport(
            host: PQhost(pointer).map { String(cString: $0) } ?? "", sslMode: options["sslmode"] ?? "",
            isEncrypted: PQsslInUse(pointer) == 1)
    }

    /// Several statements separated by semicolons, in one implicit transaction unless they say otherwise.
    func run(script: String) throws(PostgresError) {
        guard !script.utf8.contains(0) else { throw PostgresError(.programming, "the script holds a NUL byte") }
        explanation = nil
        guard PQsendQuery(pointer, script) == 1 else { throw lost() }
        try finish()
    }

    /// Waits for all results of what was sent outside of a pipeline.
    private func finish() throws(PostgresError) {
        var failure: PostgresError?
        while let result = takeResult() {
            if let error = ResultHandle(takingOwnershipOf: result).error { failure = failure ?? explained(error) }
        }
        if isLost { throw failure ?? lost() }
        if let failure { throw failure }
    }

    /// Has the server deliver the notifications of a channel.
    func listen(to channel: String) throws(PostgresError) {
        try run(script: "listen \(channel)")
        isListening = true
    }

    /// Waits for notifications of NOTIFY and takes all that have arrived.
    /// - Returns: false where the time passed without one.
    func takeNotifications(within limit: Duration) throws(PostgresError) -> Bool {
        guard PQconsumeInput(pointer) == 1 else { throw lost() }
        if takeNotifications() { return true }
        var socket = pollfd(fd: PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        guard poll(&socket, 1, Int32(limit / .milliseconds(1))) > 0 else { return false }
        guard PQconsumeInput(pointer) == 1 else { throw lost() }
        return takeNotifications()
    }

    private func takeNotifications() -> Bool {
        var isNotified = false
        while let notification = PQnotifies(pointer) {
            isNotified = true
            PQfreemem(notification)
        }
        return isNotified
    }

    /// Prepares a statement and leaves the types of its parameters to the server.
    func prepare(_ statement: Statement) throws(PostgresError) {
        guard let name = statement.name, try !isPrepared(statement, as: name) else { return }
        guard PQsendPrepare(pointer, name, statement.sql, 0, nil) == 1 else { throw lost() }
        do { try finish() } catch { throw error.during(statement) }
        prepared[name] = statement.sql
    }

    /// Sends all commands, and what must be prepared for them, in one round trip. They run in order until the first
    /// that fails; without an explicit transaction they are one implicit transaction.
    func run(_ commands: [Command]) throws(PostgresError) -> [ResultHandle] {
        for (statement, parameters) in try encode(commands) { try send(statement, parameters) }
        return try receive()
    }

    /// Sends all commands, and what must be prepared for them, and has the server begin with them. For explicit
    /// transactions only: of an implicit one the end commits what was sent, whatever became of the rest.
    func send(_ commands: [Command]) throws(PostgresError) {
        for (statement, parameters) in try encode(commands) {
            try send(statement, parameters)
            guard PQflush(pointer) >= 0 else { throw lost() }
        }
    }

    /// Waits for the results of all that was sent since the last call.
    func receive() throws(PostgresError) -> [ResultHandle] {
        guard isPipelining else { return [] }
        defer {
            isPipelining = false
            unanswered = []
            preparing = [:]
        }
        explanation = nil
        guard PQpipelineSync(pointer) == 1 else { throw lost() }
        let outcome = answers()
        guard PQexitPipelineMode(pointer) == 1 else { throw outcome.failure ?? lost() }
        if let failure = outcome.failure { throw failure }
        return outcome.results
    }

    private enum Step {
        case prepare(Statement)
        case execute(Statement)
    }

    /// All of them before the first is sent: a rejected value must not leave half of them behind.
    private func encode(_ commands: [Command]) throws(PostgresError) -> [(Statement, EncodedParameters)] {
        let encoded = try commands.map { command throws(PostgresError) in
            do throws(PostgresError) {
                return (command.statement, try EncodedParameters(command.parameters))
            } catch {
                throw error.during(command.statement)
            }
        }
        for (statement, _) in encoded { _ = try isPrepared(statement, as: statement.name ?? "") }
        return encoded
    }

    private func send(_ statement: Statement, _ parameters: EncodedParameters) throws(PostgresError) {
        if !isPipelining {
            guard PQenterPipelineMode(pointer) == 1 else { throw lost() }
            isPipelining = true
        }
        if let name = statement.name, prepared[name] == nil, preparing[name] == nil {
            preparing[name] = statement.sql
            guard parameters.sendPrepare(on: pointer, name: name, sql: statement.sql) else { throw lost() }
            unanswered.append(.prepare(statement))
        }
        guard parameters.send(statement, on: pointer) else { throw lost() }
        bytesSent += parameters.count
        unanswered.append(.execute(statement))
    }

    /// Reads what belongs to each step, in order, and the end of the pipeline. Keeps the first failure, because the
    /// following ones only say that there was an earlier one.
    private func answers() -> (results: [ResultHandle], failure: PostgresError?) {
        var results: [ResultHandle] = []
        var failure: PostgresError?
        for step in unanswered {
            let result = next()
            switch step {
            case .prepare(let statement):
                if let error = result.map(\.error) ?? lost() {
                    failure = failure ?? error.during(statement)
                } else if let name = statement.name {
                    prepared[name] = statement.sql
                }
            case .execute(let statement):
                if let error = result.map(\.error) ?? lost() {
                    failure = failure ?? error.during(statement)
                } else if let result {
                    results.append(result)
                }
            }
        }
        // The end of the pipeline; on a lost connection there is none.
        while let result = takeResult() { PQclear(result) }
        return (results, failure.map(explained))
    }

    /// The result of one statement of a pipeline and the nil that follows it.
    private func next() -> ResultHandle? {
        guard let first = takeResult() else { return nil }
        let result = ResultHandle(takingOwnershipOf: first)
        while let more = takeResult() { PQclear(more) }
        return result
    }

    /// The next result, or nil at the end of those of a statement, and where the server is silent for too long.
    private func takeResult() -> OpaquePointer? {
        guard !isBroken, awaitAnswer() else { return nil }
        return PQgetResult(pointer)
    }

    /// Sends what is left to send and waits until a result is there, or the connection is lost.
    /// - Returns: false where the server was silent for too long, so that the connection is given up.
    private func awaitAnswer() -> Bool {
        var lastProgress = ContinuousClock.now
        var isExplained = false
        while true {
            let unsent = PQflush(pointer)
            guard unsent == 1 || PQisBusy(pointer) == 1 else { return true }
            var socket = pollfd(
                fd: PQsocket(pointer), events: Int16(unsent == 1 ? POLLIN | POLLOUT : POLLIN), revents: 0)
            // In slices, because TLS may hold bytes that the socket does not tell of.
            poll(&socket, 1, 200)
            if socket.revents & Int16(POLLIN | POLLOUT) != 0 { lastProgress = .now }
            // What is wrong with the connection is in the result.
            guard PQconsumeInput(pointer) == 1, PQstatus(pointer) == CONNECTION_OK else { return true }
            let waited = lastProgress.duration(to: .now)
            if waited > Self.patience, !isExplained {
                explanation = explain(backendProcess)
                isExplained = true
            }
            if let answerTimeout, waited > answerTimeout {
                (isSilent, isBroken) = (true, true)
                return false
            }
        }
    }

    /// An answer that takes longer is worth asking why. Shorter than the timeouts of statements and of locks.
    private static let patience = Duration.seconds(3)

    /// With what it waited for, where that is why it failed.
    private func explained(_ error: PostgresError) -> PostgresError {
        defer { explanation = nil }
        guard let explanation, error.sqlState == nil || ["55P03", "57014"].contains(error.sqlState) else {
            return error
        }
        return error.explained(by: explanation)
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
        if isSilent, let answerTimeout {
            return explained(
                PostgresError(
                    .connectionLost,
                    "Postgres has not answered for \(answerTimeout.components.seconds) s: it hangs, or the network drops "
                        + "packets"))
        }
        let message = String(cString: PQerrorMessage(pointer)).trimmingNewlines
        return PostgresError(.connectionLost, message.isEmpty ? "the connection to Postgres was lost" : message)
    }

    /// libpq keeps no SQLSTATE of a failed connect, so here, and only here, the server's text must decide between what
    /// an operator must repair and what time repairs. In doubt it is time.
    private static func rejection(_ message: String) -> PostgresError {
        let needsOperator = ["authentication failed", "no password supplied", "no pg_hba.conf entry", "does not exist"]
        let isPermanent = needsOperator.contains { message.contains($0) && !message.contains("No such file") }
        return PostgresError(isPermanent ? .notPermitted : .connectionLost, message)
    }
}
