/// What an open transaction allows. Lives as long as the body it is handed to and on that body's thread.
public final class PostgresTransaction {
    private let handle: ConnectionHandle
    private let isolation: Isolation
    private var hasBegun = false
    private var hasEnded = false
    private var isBeginUnanswered = false

    init(on handle: ConnectionHandle, isolation: Isolation) {
        self.handle = handle
        self.isolation = isolation
    }

    /// Runs one statement.
    public func execute(
        _ statement: Statement, _ parameters: any PostgresParameter...
    ) throws(PostgresError) -> Rows {
        try pipeline([Command(statement, all: parameters)])[0]
    }

    /// Runs several statements in one round trip. After an error the transaction can only be rolled back.
    ///
    /// Gives back also what was sent before and not received yet, in its order.
    public func pipeline(_ commands: [Command]) throws(PostgresError) -> [Rows] {
        try send(commands)
        return try receive()
    }

    /// Sends statements without waiting for what they give back: the server begins with each as soon as it is there, so
    /// the caller makes the next one while the server works.
    ///
    /// Throws `.rejectedValue` before it sends any of them. What a statement did wrong is thrown by the next ``receive()``,
    /// at the latest when the body has returned.
    public func send(_ commands: [Command]) throws(PostgresError) {
        guard !handle.isLost else {
            throw PostgresError(.connectionLost, "the connection was lost earlier in this transaction")
        }
        guard !hasEnded else { throw PostgresError(.programming, "a statement follows the COMMIT of its transaction") }
        // BEGIN travels with the first statement.
        try handle.send(hasBegun ? commands : [Command(isolation.begin)] + commands)
        if !hasBegun { isBeginUnanswered = true }
        hasBegun = true
    }

    /// Waits for what was sent and not received yet, in its order. After an error the transaction can only be rolled
    /// back.
    public func receive() throws(PostgresError) -> [Rows] { try results().map { $0.rows() } }

    private func results() throws(PostgresError) -> ArraySlice<ResultHandle> {
        defer { isBeginUnanswered = false }
        return try handle.receive().dropFirst(isBeginUnanswered ? 1 : 0)
    }

    /// Runs a text of several statements. For migrations; a user's words must never get here.
    public func run(unsafeScript script: String) throws(PostgresError) {
        _ = try pipeline([])
        try handle.run(script: script)
    }

    /// Runs the last statements and COMMIT in one round trip: for a body that needs no look at what they give back to
    /// decide whether it is committed. Afterwards the transaction takes no statement.
    ///
    /// Gives back also what was sent before and not received yet, in its order.
    /// - Throws: `.commitUnknown` where the connection broke; what a statement did wrong, which undoes them all.
    @discardableResult
    public func commit(after commands: [Command] = []) throws(PostgresError) -> [Rows] {
        guard !hasEnded, hasBegun || !commands.isEmpty else { return [] }
        let results: ArraySlice<ResultHandle>
        do {
            try send(commands + [Command(.commit)])
            results = try self.results()
        } catch {
            guard error.meaning == .connectionLost || handle.isLost else { throw error }
            throw PostgresError(
                .commitUnknown, sqlState: error.sqlState,
                "the connection was lost during COMMIT, which may or may not have happened: \(error.message)")
        }
        guard results.last?.commandTag == "COMMIT" else {
            throw PostgresError(
                .programming, "the transaction was rolled back at COMMIT, because an error in it had been ignored")
        }
        hasEnded = true
        return results.dropLast().map { $0.rows() }
    }

    /// - Returns: whether the connection is usable afterwards.
    func rollBack() -> Bool {
        guard !handle.isLost else { return false }
        // What was sent before the body gave up is answered first; whether it went well does not matter any more.
        _ = try? receive()
        guard !handle.isLost else { return false }
        guard handle.isInTransaction else { return true }
        return (try? handle.run([Command(.rollback)])) != nil && !handle.isInTransaction
    }
}

/// What a transaction sees of others.
public enum Isolation: Sendable {
    /// Each statement sees what was committed before it. The server's default.
    case readCommitted
    /// All statements see the same moment; conflicts end it with `.repeatable`.
    case repeatableRead
    /// As if transactions ran one after the other; conflicts end it with `.repeatable`.
    case serializable

    var begin: Statement {
        switch self {
        case .readCommitted: Statement("begin-read-committed", "begin isolation level read committed")
        case .repeatableRead: Statement("begin-repeatable-read", "begin isolation level repeatable read")
        case .serializable: Statement("begin-serializable", "begin isolation level serializable")
        }
    }
}

extension Statement {
    fileprivate static let commit = Statement("commit", "commit")
    fileprivate static let rollback = Statement("rollback", "rollback")
}
