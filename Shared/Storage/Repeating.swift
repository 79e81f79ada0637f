import Postgres

/// Does again what the server undid in favour of another transaction. Everything else is the caller's to judge.
///
/// Thirty-two attempts, without waiting: whoever won has committed by the time we hear of it, so each attempt meets a
/// later state of the world. Two who write the same rows in small batches on a busy machine were seen to lose eight
/// times in a row; more than this is not bad luck but a fault that must be seen.
func repeating<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 1..<32 {
        do {
            return try await work()
        } catch let error as PostgresError where error.meaning == .repeatable {
            continue
        }
    }
    return try await work()
}

extension Statement {
    /// Before a lock on a whole table: behind one that waits every other user of it waits, too. A wait that ends so is repeatable.
    static let lockTimeout = Statement(unsafeSQL: "set local lock_timeout = '2s'")
}
