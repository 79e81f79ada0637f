import Operations
import Storage
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// What operators do with an endpoint of webhooks. The secret is shown by the command line alone: the console has no key file.
struct WebhookActions: Sendable {
    private static let rule =
        "one of: a sequence, a purchase, and the times from and to, of which an app, an event and a fact take some"

    let console: Console

    /// `POST /webhooks/{uuid}/test`
    func test(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await change(.test, done: "webhook-test", request)
    }

    /// `POST /webhooks/{uuid}/pause`
    func pause(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await change(.pause, done: "webhook-pause", request)
    }

    /// `POST /webhooks/{uuid}/resume`
    func resume(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await change(.resume(fromNow: request.form["fromNow"] == "yes"), done: "webhook-resume", request)
    }

    /// `POST /webhooks/{uuid}/rotate`
    func rotate(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        try await change(.rotate, done: "webhook-rotate", request)
    }

    /// `POST /webhooks/{uuid}/replay`: counts, then sends exactly what was counted.
    func replay(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (uuid, performer) = (try request.uuid("uuid"), try console.performer(request))
        let selection = try Self.selection(request, now: performer.now)
        return try await console.database.withConnection { connection in
            let operation = try await ReplayWebhooks(selection, to: uuid, on: connection)
            if console.mustConfirm(operation.plan, request) {
                var hidden: [(String, String)] = []
                // What is applied between the count and the replay is not part of it.
                if case .time(let range, _) = selection { hidden = [("to", range.upperBound.text)] }
                return console.page(of: operation.plan, request, confirming: hidden)
            }
            guard operation.plan.isEffective else {
                throw Fault(409, "Nothing was sent: the endpoint gets no such change.", "Go back and choose others.")
            }
            _ = try await operation.perform(on: connection, by: performer)
            return .redirect(to: "\(Self.address(uuid))?done=webhook-replay")
        }
    }

    private func change(
        _ change: ChangeWebhook.Change, done: String, _ request: ConsoleRequest
    ) async throws -> ConsoleResponse {
        let (uuid, performer) = (try request.uuid("uuid"), try console.performer(request))
        return try await console.database.withConnection { connection in
            let operation = try await ChangeWebhook(
                change, of: uuid, seen: request.form["generation"].flatMap { Int32($0) }, on: connection)
            if console.mustConfirm(operation.plan, request) {
                return console.page(of: operation.plan, request, confirming: [])
            }
            try await operation.perform(on: connection, by: performer)
            return .redirect(to: "\(Self.address(uuid))?done=\(done)")
        }
    }

    /// - Throws: `Fault` where the form names none or several, or a time that is none.
    private static func selection(
        _ request: ConsoleRequest, now: Date
    ) throws -> WebhookReplayStore.Selection {
        func text(_ name: String) -> String? {
            let text = (request.form[name] ?? "").filter { !$0.isWhitespace }
            return text.isEmpty ? nil : text
        }
        let (sequence, purchase, from, to) = (text("sequence"), text("purchase"), text("from"), text("to"))
        let given = [sequence != nil, purchase != nil, from != nil].count { $0 }
        let filter = WebhookFilter(
            bundleIds: [text("app")].compactMap(\.self), events: [text("event")].compactMap(\.self),
            facts: [text("fact")].compactMap(\.self))
        guard given == 1, from != nil || to == nil && filter == WebhookFilter() else {
            throw Fault(422, "Nothing was done: the changes are not named.", "Give \(rule).")
        }
        if let purchase { return .purchase(purchase) }
        if let sequence {
            guard let number = Int64(sequence) else {
                throw Fault(
                    422, "Nothing was done: the sequence is no number.", "Give a whole number.", field: "sequence")
            }
            return .one(number)
        }
        // The page of the plan has the end to the second.
        let last = Date(timeIntervalSince1970: now.timeIntervalSince1970.rounded(.down))
        guard let start = from.flatMap(Date.given), let end = to.map(Date.given) ?? last, start < min(end, last) else {
            throw Fault(
                422, "Nothing was done: the times are none, still to come, or in the wrong order.",
                "Give them as 2026-03-01 or 2026-03-01T12:00:00Z.", field: "from")
        }
        return .time(start..<min(end, last), filter)
    }

    // MARK: Forms

    func forms(of entry: WebhookEndpointStore.Entry, _ request: ConsoleRequest) -> [ActionForm] {
        let (uuid, url) = (entry.endpoint.id, entry.endpoint.url)
        var forms: [ActionForm] = []
        if entry.endpoint.state != .disabled {
            forms.append(
                form(
                    "test", "Send a test", "\(url) gets webhook.test within seconds; this page shows the last fault.",
                    uuid, request))
        }
        if [.paused, .disabled].contains(entry.endpoint.state) {
            forms.append(
                form(
                    "resume", "Resume", "The receiver is tested, then what waits is sent in order.", uuid,
                    inputs: [
                        ActionForm.Input(
                            id: "resume-from-now", name: "fromNow", label: "Give up what waits", type: "checkbox",
                            value: "yes", hint: "It can be replayed.", isRequired: false)
                    ], request))
        } else {
            forms.append(form("pause", "Pause", "Nothing is sent; changes wait, for 30 days.", uuid, request))
        }
        forms.append(
            form(
                "rotate", "Rotate the secret",
                "A new secret signs; the one before signs, too, for a day. storekeeper webhooks secret prints the new one.",
                uuid, hidden: [("generation", "\(entry.endpoint.generation)")], isDangerous: true, request))
        forms.append(
            form(
                "replay", "Replay", "Sends changes again under their ids, after a count: \(Self.rule).", uuid,
                inputs: [
                    ("sequence", "Sequence", "Of one change."), ("purchase", "Purchase", "All changes of it."),
                    ("from", "From", "2026-03-01 or 2026-03-01T12:00:00Z."), ("to", "To", "Empty: until now."),
                    ("app", "App", "Bundle id. Empty: all."),
                    ("event", "Event", "EXPIRED or EXPIRED/VOLUNTARY. Empty: all."),
                    ("fact", "Fact", "Such as accessUntil. Empty: all."),
                ].map { name, label, hint in
                    ActionForm.Input(
                        id: "replay-\(name)", name: name, label: label, type: "text", value: "", hint: hint,
                        isRequired: false)
                }, command: "--from 2h --to 1h", request))
        return forms
    }

    private func form(
        _ verb: String, _ title: String, _ explanation: String, _ uuid: UUID, hidden: [(String, String)] = [],
        inputs: [ActionForm.Input] = [], command: String? = nil, isDangerous: Bool = false, _ request: ConsoleRequest
    ) -> ActionForm {
        let name = uuid.uuidString.lowercased()
        let further = command.map { " \($0)" } ?? ""
        return ActionForm(
            id: verb, title: title, explanation: explanation, address: "\(Self.address(uuid))/\(verb)", button: title,
            hidden: hidden, inputs: inputs, command: "storekeeper webhooks \(verb) \(name)\(further) --note REASON",
            isDangerous: isDangerous, offersPlan: true, request)
    }

    private static func address(_ uuid: UUID) -> String { "/webhooks/\(uuid.uuidString.lowercased())" }
}
