import Commands
import Operations
import Postgres
import Storage

extension DeadLetterActions {
    /// The actions; nil, with a warning, while the database is unavailable: in an incident the list must still work.
    func knownActions(
        on deadLetters: [StoredDeadLetter], in context: CommandContext
    ) async throws -> [DeadLetterID: [OperatorAction]]? {
        do {
            return try await actions(on: deadLetters)
        } catch let error as PostgresError {
            context.warn("Database unavailable; the state of the dead letters is unknown: \(error.messageWithHint)")
            return nil
        }
    }
}
