import Postgres

/// Repeats a transaction that the server rolled back in favour of another one. The caller handles all other errors.
///
/// Up to 32 attempts, without a pause: the other transaction has committed by then, so each attempt meets a later state.
/// Two writers of the same rows in small batches on a busy machine were seen to lose eight times in a row; more than 32 is a
/// fault that must be reported. A lock that was not free within the timeout is reported at once, with the session that holds it: it
/// is another's, and waiting for it again in silence would hide it.
func repeating<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 1..<32 {
        do {
            return try await work()
        } catch let error as PostgresError where error.meaning == .repeatable && error.sqlState != "55P03" {
            continue
        }
    }
    return try await work()
}

extension Statement {
    /// Before a lock on a whole table, because every other statement on the table waits behind a waiting lock. The transaction
    /// may be repeated after this timeout.
    static let lockTimeout = Statement(unsafeSQL: "set local lock_timeout = '2s'")
}
