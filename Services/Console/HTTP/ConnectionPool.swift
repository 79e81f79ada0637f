import Postgres
import Synchronization

/// The connections that all requests share, one request at a time each.
final class ConnectionPool: Sendable {
    private struct State {
        var idle: [PostgresConnection]
        var waiting: [CheckedContinuation<PostgresConnection?, Never>] = []
    }

    /// Requests that may wait; one more is rejected, so that a slow database costs no memory.
    private static let waitingLimit = 256

    private let state: Mutex<State>
    private let connections: [PostgresConnection]

    init(_ connections: [PostgresConnection]) {
        self.connections = connections
        state = Mutex(State(idle: connections))
    }

    /// Lends a connection.
    /// - Throws: `Fault` where too many wait for one.
    func withConnection<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async throws -> Value {
        let connection = await withCheckedContinuation { loan in
            let now: PostgresConnection?? = state.withLock { state in
                if let connection = state.idle.popLast() { return .some(connection) }
                guard state.waiting.count < Self.waitingLimit else { return .some(nil) }
                state.waiting.append(loan)
                return nil
            }
            if let now { loan.resume(returning: now) }
        }
        guard let connection else {
            throw Fault(503, "Too many requests wait for the database.", "Try again in a few seconds.")
        }
        defer {
            let next = state.withLock { state -> CheckedContinuation<PostgresConnection?, Never>? in
                if !state.waiting.isEmpty { return state.waiting.removeFirst() }
                state.idle.append(connection)
                return nil
            }
            next?.resume(returning: connection)
        }
        return try await body(connection)
    }

    /// Closes all connections; the next use would connect again.
    func close() async {
        for connection in connections { await connection.close() }
    }
}
