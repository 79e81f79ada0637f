import Postgres
import Storage

/// Signs a person out of the console everywhere.
package struct EndSessions: Sendable {
    package static let name = "console end"

    private let person: String

    package init(of person: String) { self.person = person }

    /// - Returns: how many sessions ended, and how many links became useless.
    /// - Throws: `OperationError` where there is neither.
    package func perform(
        on connection: PostgresConnection, by performer: Performer
    ) async throws -> (sessions: Int, links: Int) {
        let ended = try await ConsoleSessions(connection).endAll(
            of: person, at: performer.now, audit: performer.action(Self.name, on: person))
        guard ended.sessions + ended.links > 0 else {
            throw OperationError(
                "\(person.escaped) has no session and no unused link; storekeeper console sessions lists who is signed in",
                .notFound)
        }
        return ended
    }
}
