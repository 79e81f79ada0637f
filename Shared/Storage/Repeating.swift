import Postgres

/// Does again what the server undid in favour of another transaction. Everything else is the caller's to judge.
///
/// Eight attempts, without waiting: whoever won has committed by the time we hear of it, so each attempt meets a later
/// state of the world. More than that is not bad luck but a fault that must be seen.
func repeating<Value: Sendable>(_ work: () async throws -> Value) async throws -> Value {
    for _ in 1..<8 {
        do {
            return try await work()
        } catch let error as PostgresError where error.meaning == .repeatable {
            continue
        }
    }
    return try await work()
}
