import Storage

/// `GET /audit`: who did what, when, why; by command and here.
struct AuditScreen: Sendable {
    struct Row: Sendable {
        let at: Moment
        let actor: String
        let operation: String
        let subject: String
        let app: String
        let reason: String
        let outcome: String
    }

    struct Page: Sendable {
        let rows: [Row]
        let isEmpty: Bool
        let actor: String
        let next: String?
        let seesSessions: Bool
    }

    private static let size = 50

    let console: Console

    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let actor = request.text("actor")
        let after = request.text("after").flatMap { Int64($0) }
        let rows = try await console.database.withConnection { connection in
            try await ConsolePages(connection).actions(after: after, actor: actor, limit: Self.size + 1)
        }
        let isOn = request.masking.isOn
        return console.page(
            "audit", "Audit",
            Page(
                rows: rows.prefix(Self.size).map { row in
                    Row(
                        at: Moment(row.action.actedAt, now: now), actor: row.action.actor,
                        operation: row.action.operation,
                        // Subjects and reasons name customers.
                        subject: isOn ? "hidden" : row.action.subject,
                        app: [row.action.about?.bundleId, row.action.about?.environment.rawValue].compactMap { $0 }
                            .joined(separator: ", "),
                        reason: isOn ? "hidden" : row.action.reason ?? "", outcome: row.action.outcome.rawValue)
                },
                isEmpty: rows.isEmpty, actor: actor ?? "",
                next: rows.count > Self.size
                    ? "/audit" + FormFields.query([("actor", actor), ("after", rows[Self.size - 1].id.description)])
                    : nil,
                seesSessions: request.role >= .admin),
            request)
    }
}
