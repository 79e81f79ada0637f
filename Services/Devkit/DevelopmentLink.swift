import Foundation
import Operations
import Postgres
import Storage

/// A link that signs a developer in to the console of a development run.
struct DevelopmentLink: Sendable {
    var databaseURL: String
    var now: Date

    func create() async throws -> ConsoleLink {
        let link = ConsoleLink(random: (0..<32).map { _ in .random(in: 0...255) })
        let connection = PostgresConnection(
            PostgresConfiguration(url: databaseURL, applicationName: "storekeeper dev"), logger: .silent)
        try await ConsoleSessions(connection).addLink(
            link.digest, for: ConsoleSessions.Person(name: "developer", role: "admin"), from: now,
            until: now.addingTimeInterval(ConsoleLink.validity),
            audit: OperatorAction(
                actedAt: now, actor: "storekeeper dev", operation: "console login", subject: "developer as admin",
                reason: nil))
        await connection.close()
        return link
    }
}
