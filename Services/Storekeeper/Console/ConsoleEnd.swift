import ArgumentParser
import Commands
import Foundation
import Operations
import Storage

/// `storekeeper console end`: ends the sessions of a person.
struct ConsoleEnd: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "end", abstract: "End all console sessions of a person.",
        discussion: """
            Signs the person out everywhere, in every role, and makes sign-in links useless that are not used yet. People \
            whom an OpenID provider signs in may sign in again: remove them there as well. Exit codes: 0 done; 1 the person \
            has no session and no link.

            Example: storekeeper console end ann --note "left the company"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Argument(help: "Name of the person, from storekeeper console sessions.")
    var name: String

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "console end", in: context)
        let ended = try await EndSessions(of: name).perform(
            on: connection, by: try audit.performer(in: context))
        guard !output.json else {
            return try output.print(json: Ended(name: name, sessions: ended.sessions, links: ended.links), in: context)
        }
        context.print(
            "Ended \(ended.sessions.counted("session")) and \(ended.links.counted("unused link")) of \(name.escaped).")
    }

    struct Ended: Encodable {
        var name: String
        var sessions: Int
        var links: Int
    }
}

/// `storekeeper console sessions`: who is signed in.
struct ConsoleSessionList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "sessions", abstract: "List people who are signed in to the console.",
        discussion: "Example: storekeeper console sessions --json")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "console sessions", in: context)
        let found = try await ConsoleSessions(connection).signedIn(at: context.now())
        try output.list(found.map(Row.init), none: "No person is signed in.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["person", "role", .number("sessions"), "last begun", "over by"]

        var name: String
        var role: String
        var sessions: Int
        var begunAt: Date
        var endsAt: Date

        init(_ known: ConsoleSessions.SignedIn) {
            name = known.person.name
            role = known.person.role
            sessions = known.sessions
            begunAt = known.begunAt
            endsAt = known.endsAt
        }

        var cells: [String] { [name, role, "\(sessions)", begunAt.text, endsAt.text] }
    }
}
