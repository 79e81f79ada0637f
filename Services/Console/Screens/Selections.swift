import Contracts
import Operations
import Storage

import struct Foundation.UUID

/// Frozen lists of dead letters: a dry run, then a replay or a dismissal of exactly that list.
struct SelectionScreens: Sendable {
    struct Page: Sendable {
        let sentence: String
        let criteria: String
        let created: Moment
        let by: String
        let deadLetters: [String]
        let more: String?
        let progress: String?
        let isWaiting: Bool
        let error: String?
        let forms: [ActionForm]
        let again: String
    }

    private static let shown = 100

    let console: Console

    /// `POST /dead-letters/selections`
    func freeze(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let id = console.newId()
        let criteria = DeadLetterScreens.criteria(request.form)
        try await console.database.withConnection { connection in
            try await DeadLetterSelections(connection).freeze(
                criteria, id: id, by: request.name, in: DeadLetterScreens.words(criteria),
                command: DeadLetterScreens.command("VERB", criteria), at: console.clock.now())
        }
        return .redirect(to: Self.address(id))
    }

    /// `GET /dead-letters/selections/{uuid}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let selection = try await find(request)
        let now = console.clock.now()
        let count = selection.deadLetters.count
        let known = Int(selection.known)
        let mayAct = request.role >= .operatorRole && selection.action == nil && count > 0
        return console.page(
            "selection", "Selected dead letters",
            Page(
                sentence: ReplayDeadLetters.Plan(found: count, known: known).sentence, criteria: selection.criteria,
                created: Moment(selection.createdAt, now: now), by: selection.createdBy,
                deadLetters: Array(selection.deadLetters.prefix(Self.shown)),
                more: count > Self.shown ? "and \(Figures.grouped(Int64(count - Self.shown))) more" : nil,
                progress: Self.progress(selection),
                isWaiting: selection.action == .replay && selection.finishedAt == nil, error: selection.error,
                forms: mayAct ? Self.forms(selection, request) : [], again: "/dead-letters"),
            request)
    }

    /// `POST /dead-letters/selections/{uuid}/replay`
    func replay(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (id, performer) = (try request.uuid("uuid"), try console.performer(request))
        let isRequested = try await console.database.withConnection { connection in
            try await DeadLetterSelections(connection).requestReplay(
                id, by: request.name, note: performer.reason ?? "", at: performer.now)
        }
        guard isRequested else { throw Self.settled }
        return .redirect(to: Self.address(id))
    }

    /// `POST /dead-letters/selections/{uuid}/dismiss`
    func dismiss(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (id, performer) = (try request.uuid("uuid"), try console.performer(request))
        let isDone = try await console.database.withConnection { connection in
            try await DismissDeadLetters(.selection(id)).perform(on: connection, by: performer)
        }
        guard isDone else { throw Self.settled }
        return .redirect(to: Self.address(id) + "?done=dismiss")
    }

    private static let settled = Fault(
        409, "Nothing was done: this list is empty, gone, or was replayed or dismissed before.",
        "Begin again with a dry run.")

    private func find(_ request: ConsoleRequest) async throws -> DeadLetterSelections.Selection {
        let id = try request.uuid("uuid")
        let found = try await console.database.withConnection { connection in
            try await DeadLetterSelections(connection).find(id)
        }
        guard let selection = found else { throw Fault.notFound("There is no such list of dead letters.") }
        return selection
    }

    private static func address(_ id: UUID) -> String { "/dead-letters/selections/\(id.uuidString.lowercased())" }

    private static func progress(_ selection: DeadLetterSelections.Selection) -> String? {
        let by = selection.requestedBy ?? ""
        return switch selection.action {
        case nil: nil
        case .dismiss: "Dismissed by \(by): \(selection.note ?? "")"
        case .replay where selection.finishedAt == nil: "The replay that \(by) asked for is under way."
        case .replay where selection.error == nil:
            "\(Int(selection.sent ?? 0).counted("dead letter")) sent through the pipeline again, for \(by): "
                + (selection.note ?? "")
        case .replay: "The replay that \(by) asked for failed."
        }
    }

    private static func forms(
        _ selection: DeadLetterSelections.Selection, _ request: ConsoleRequest
    ) -> [ActionForm] {
        let count = selection.deadLetters.count.counted("dead letter")
        let address = address(selection.id)
        return [
            ActionForm(
                id: "replay", title: "Replay",
                explanation:
                    "Sends exactly these through the pipeline again. They pass all checks; what is rejected again becomes a "
                    + "new dead letter.",
                address: address + "/replay", button: "Replay \(count)",
                command: selection.command.replacing("VERB", with: "replay") + " --note REASON", request),
            ActionForm(
                id: "dismiss", title: "Dismiss",
                explanation: "Closes exactly these without a replay. They stay in the topic for 30 days.",
                address: address + "/dismiss", button: "Dismiss \(count)",
                command: selection.command.replacing("VERB", with: "dismiss") + " --note REASON", isDangerous: true,
                request),
        ]
    }
}
