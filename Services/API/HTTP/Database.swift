import Postgres
import Synchronization

import struct Foundation.UUID

/// The connections that all requests share.
///
/// Look-ups that arrive while every connection is busy go into the next round trip together: under load a round trip
/// carries many questions, and without load none waits. What waits is served in turns by key, and no key borrows more than half
/// of the connections, rounded up: the slow statements of one do not stop the others.
final class Database: Sendable {
    private typealias Query = (command: Command, answer: CheckedContinuation<Rows, any Error>)

    private struct State {
        var idle: [PostgresConnection]
        var queries = FairQueue<Query>()
        var loans = FairQueue<CheckedContinuation<PostgresConnection, Never>>()
        /// Connections on loan, by key.
        var lent: [UUID: Int] = [:]
        /// Loans and look-ups take turns: neither waits for all of the other.
        var isLoansTurn = true

        mutating func takeBack(from key: UUID) {
            let left = (lent[key] ?? 0) - 1
            lent[key] = left > 0 ? left : nil
        }
    }

    /// In one round trip. More would make the first wait for the last.
    private static let roundTrip = 32
    /// Look-ups that may wait; one more is rejected, so that a slow database costs no memory.
    static let waitingLimit = 4096
    /// The answer to that one.
    static var tooManyWait: Problem { Problem(.unavailable, "Too many look-ups wait; send it again later.") }

    private let state: Mutex<State>
    private let connections: [PostgresConnection]
    /// Connections that one key may have on loan at a time.
    private var share: Int { (connections.count + 1) / 2 }

    init(_ connections: [PostgresConnection]) {
        self.connections = connections
        state = Mutex(State(idle: connections))
    }

    /// The rows of one look-up.
    func rows(_ command: Command) async throws -> Rows {
        // Without load the request asks itself: two changes of threads, there and back.
        if let connection = state.withLock({ $0.idle.popLast() }) {
            defer { release(connection) }
            return try await connection.pipeline([command])[0]
        }
        return try await withCheckedThrowingContinuation { answer in
            let connection: PostgresConnection?? = state.withLock { state in
                guard state.queries.count < Self.waitingLimit else { return nil }
                state.queries.append((command, answer), of: ServedKey.id ?? .zero)
                // One may have become idle since.
                return .some(state.idle.popLast())
            }
            switch connection {
            case nil: answer.resume(throwing: Self.tooManyWait)
            case .some(nil): break
            case .some(let connection?): release(connection)
            }
        }
    }

    /// Lends a connection for what needs one to itself, such as a transaction. A loan within a loan may wait forever.
    func withConnection<Value>(
        isolation: isolated (any Actor)? = #isolation, _ body: (PostgresConnection) async throws -> Value
    ) async rethrows -> Value {
        let key = ServedKey.id ?? .zero
        let connection = await withCheckedContinuation { loan in
            let connection = state.withLock { state -> PostgresConnection? in
                guard mayBorrow(key, state.lent), let connection = state.idle.popLast() else {
                    state.loans.append(loan, of: key)
                    return nil
                }
                state.lent[key, default: 0] += 1
                return connection
            }
            if let connection { loan.resume(returning: connection) }
        }
        defer {
            state.withLock { $0.takeBack(from: key) }
            release(connection)
        }
        return try await body(connection)
    }

    /// The service's own work is not limited.
    private func mayBorrow(_ key: UUID, _ lent: [UUID: Int]) -> Bool { key == .zero || lent[key] ?? 0 < share }

    /// Closes all connections; the next look-up would connect again.
    func close() async {
        for connection in connections { await connection.close() }
    }

    /// Gives a connection to what waits for one.
    private func release(_ connection: PostgresConnection) {
        let queries = next(for: connection)
        if !queries.isEmpty { Task { await serve(queries, on: connection) } }
    }

    /// The look-ups of the next round trip. None where the connection went to a loan, or nothing waits.
    private func next(for connection: PostgresConnection) -> [Query] {
        state.withLock { state -> [Query] in
            let isLoansTurn = state.isLoansTurn || state.queries.isEmpty
            let lent = state.lent
            if isLoansTurn, let loan = state.loans.popFirst(where: { mayBorrow($0, lent) }) {
                state.isLoansTurn = false
                state.lent[loan.key, default: 0] += 1
                loan.element.resume(returning: connection)
                return []
            }
            state.isLoansTurn = true
            let taken = state.queries.popFirst(Self.roundTrip)
            if taken.isEmpty { state.idle.append(connection) }
            return taken
        }
    }

    /// Works until nothing waits, on the connection's own thread: the next round trip begins without a change of threads.
    private func serve(_ first: [Query], on connection: isolated PostgresConnection) {
        var queries = first
        while !queries.isEmpty {
            do {
                let rows = try connection.pipeline(queries.map(\.command))
                for (query, rows) in zip(queries, rows) { query.answer.resume(returning: rows) }
            } catch {
                each(queries, on: connection, after: error)
            }
            queries = next(for: connection)
        }
    }

    /// One question that fails takes the others of its round trip with it: ask them one by one.
    private func each(_ queries: [Query], on connection: isolated PostgresConnection, after error: any Error) {
        let isLost = (error as? PostgresError)?.isTransient ?? false
        for query in queries {
            // Where the database is away, one attempt for all is enough.
            if queries.count == 1 || isLost {
                query.answer.resume(throwing: error)
                continue
            }
            do {
                query.answer.resume(returning: try connection.pipeline([query.command])[0])
            } catch {
                query.answer.resume(throwing: error)
            }
        }
    }
}
