import Operations
import Storage

/// Who is signed in, and the end of a person's sessions.
struct SessionScreens: Sendable {
    struct Row: Sendable {
        let name: String
        let role: String
        let sessions: Int
        let begun: Moment
        let end: Moment
        let form: ActionForm
    }

    struct Page: Sendable {
        let rows: [Row]
        let isEmpty: Bool
    }

    let console: Console

    /// `GET /sessions`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let found = try await console.database.withConnection { try await ConsoleSessions($0).signedIn(at: now) }
        let rows = found.enumerated().map { index, known in
            let name = known.person.name
            return Row(
                name: name, role: known.person.role, sessions: known.sessions,
                begun: Moment(known.begunAt, now: now), end: Moment(known.endsAt, now: now),
                form: ActionForm(
                    id: "end-\(index)", title: "End the sessions of \(name)",
                    explanation:
                        "Signs this person out everywhere, in every role, and makes sign-in links useless that are not "
                        + "used yet. A person who may still sign in at the provider can begin a new session.",
                    address: "/sessions/end", button: "End sessions", hidden: [("name", name)],
                    command: "storekeeper console end \(shellWord(name)) --note REASON", isDangerous: true, request))
        }
        return console.page("sessions", "Sessions", Page(rows: rows, isEmpty: rows.isEmpty), request)
    }

    /// `POST /sessions/end`
    func end(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        guard let name = request.form["name"], !name.isEmpty else {
            throw Fault(422, "Nothing was done: the form is incomplete.", "Choose a person.")
        }
        let performer = try console.performer(request)
        _ = try await console.database.withConnection { connection in
            try await EndSessions(of: name).perform(on: connection, by: performer)
        }
        return .redirect(to: "/sessions?done=end")
    }
}
