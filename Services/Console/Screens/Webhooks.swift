import Operations
import Storage

/// The endpoints of webhooks, and what was sent to one. Operators create and remove endpoints by command.
struct WebhookScreens: Sendable {
    struct Row: Sendable {
        let id: String
        let kind: String
        let url: String
        let environment: String
        let state: String
        let waiting: Int
        let oldest: Moment?
        let delivered: String
        let fault: String
        let address: String
    }

    struct Page: Sendable {
        let rows: [Row]
        let isEmpty: Bool
        let seesDeliveries: Bool
    }

    struct DeliveryRow: Sendable {
        let sequence: String
        let event: String
        let purchase: String
        let address: String
        let state: String
        let attempts: Int
        /// The number of ``failures``, in words; nil where none is in the log.
        let failed: String?
        let failures: [FailureRow]
        let status: String
        let milliseconds: String
        let finished: Moment?
        let applied: Moment
    }

    /// A failed attempt.
    struct FailureRow: Sendable {
        let time: Moment
        let took: String
        let fault: String
        let answer: String?
    }

    struct EndpointPage: Sendable {
        let id: String
        let kind: String
        let url: String
        let state: String
        let fault: String
        let rows: [DeliveryRow]
        let isEmpty: Bool
        let command: String
        let forms: [ActionForm]
    }

    private static let limit = 100
    /// The number of failed attempts that are shown of a delivery, the newest: one to a receiver that fails for days has hundreds.
    private static let failures = 10
    /// The beginning of an answer; the command line has all that is kept.
    private static let answerLength = 200
    /// Seconds.
    private static let rateTime = 300.0

    /// One delivery of a change.
    private struct Sent: Hashable {
        let sequence: Int64
        let replay: Int64
    }

    let console: Console

    /// `GET /webhooks`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let (entries, waiting, delivered) = try await console.database.withConnection { connection in
            let store = WebhookEndpointStore(connection)
            return (
                try await store.all(), try await store.waiting(),
                try await store.delivered(since: now.addingTimeInterval(-Self.rateTime))
            )
        }
        let rows = entries.map { entry in
            let (id, own) = (entry.endpoint.id.uuidString.lowercased(), waiting[entry.endpoint.id])
            return Row(
                id: id, kind: entry.endpoint.kind.rawValue, url: entry.endpoint.url,
                environment: entry.endpoint.environment.rawValue,
                state: entry.shownState, waiting: Int(own?.count ?? 0),
                oldest: own?.oldest.map { Moment($0, now: now) },
                delivered: Self.rate(delivered[entry.endpoint.id] ?? 0),
                fault: entry.health.lastFault ?? "",
                address: "/webhooks/\(id)")
        }
        return console.page(
            "webhooks", "Webhooks",
            Page(
                rows: rows, isEmpty: rows.isEmpty,
                seesDeliveries: (request.identity?.role ?? .viewer) >= .support), request)
    }

    private static func rate(_ delivered: Int64) -> String {
        (delivered < WebhookEndpointStore.counted ? "" : "at least ") + Figures.grouped(delivered)
    }

    private static func text(failures count: Int, areAll: Bool) -> String? {
        guard count > 0 else { return nil }
        return areAll ? "\(count) failed" : "the last \(count) that failed"
    }

    /// `GET /webhooks/{uuid}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, uuid) = (console.clock.now(), try request.uuid("uuid"))
        let (entry, deliveries, attempts) = try await console.database.withConnection { connection in
            let (entry, log) = (try await ChangeWebhook.find(uuid, on: connection), WebhookLog(connection))
            let deliveries = try await log.deliveries(of: uuid, limit: Self.limit)
            let sequences = Array(Set(deliveries.map(\.sequence)))
            return (
                entry, deliveries, try await log.attempts(of: uuid, at: sequences, most: Self.failures)
            )
        }
        let failures = Dictionary(grouping: attempts) { Sent(sequence: $0.sequence ?? 0, replay: $0.replay) }
        // The failures of a change: its replays have their part of the newest ones.
        let found = Dictionary(attempts.map { ($0.sequence ?? 0, 1) }, uniquingKeysWith: +)
        let (id, environment) = (uuid.uuidString.lowercased(), entry.endpoint.environment.rawValue)
        let rows = deliveries.map { delivery in
            let failed = failures[Sent(sequence: delivery.sequence, replay: delivery.replay)] ?? []
            return DeliveryRow(
                sequence: "\(delivery.sequence)", event: delivery.event, purchase: delivery.originalTransactionId,
                address: delivery.originalTransactionId.isEmpty
                    ? "" : "/purchases/\(environment)/\(delivery.originalTransactionId)",
                state: delivery.state.rawValue + (delivery.replay > 0 ? " (replay)" : ""),
                attempts: Int(delivery.attempts),
                failed: Self.text(
                    failures: failed.count, areAll: found[delivery.sequence, default: 0] < Self.failures),
                failures: failed.map { attempt in
                    FailureRow(
                        time: Moment(attempt.at, now: now), took: "\(attempt.milliseconds)",
                        fault: attempt.fault ?? "", answer: attempt.answer.map { String($0.prefix(Self.answerLength)) })
                },
                status: delivery.status.map { "\($0)" } ?? "",
                milliseconds: delivery.milliseconds.map { "\($0)" } ?? "",
                finished: delivery.finishedAt.map { Moment($0, now: now) },
                applied: Moment(delivery.appliedAt, now: now))
        }
        return console.page(
            "webhook", "Webhook",
            EndpointPage(
                id: id, kind: entry.endpoint.kind.rawValue, url: entry.endpoint.url, state: entry.shownState,
                fault: entry.health.lastFault ?? "",
                rows: rows,
                isEmpty: rows.isEmpty, command: "storekeeper webhooks deliveries \(id)",
                forms: request.role >= .operatorRole ? WebhookActions(console: console).forms(of: entry, request) : []),
            request)
    }
}
