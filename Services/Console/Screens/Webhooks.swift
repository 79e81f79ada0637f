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
        let status: String
        let applied: Moment
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

    let console: Console

    /// `GET /webhooks`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let (entries, waiting) = try await console.database.withConnection { connection in
            let store = WebhookEndpointStore(connection)
            return (try await store.all(), try await store.waiting())
        }
        let rows = entries.map { entry in
            let (id, own) = (entry.endpoint.id.uuidString.lowercased(), waiting[entry.endpoint.id])
            return Row(
                id: id, kind: entry.endpoint.kind.rawValue, url: entry.endpoint.url,
                environment: entry.endpoint.environment.rawValue,
                state: entry.shownState, waiting: Int(own?.count ?? 0),
                oldest: own?.oldest.map { Moment($0, now: now) }, fault: entry.health.lastFault ?? "",
                address: "/webhooks/\(id)")
        }
        return console.page(
            "webhooks", "Webhooks",
            Page(
                rows: rows, isEmpty: rows.isEmpty,
                seesDeliveries: (request.identity?.role ?? .viewer) >= .support), request)
    }

    /// `GET /webhooks/{uuid}`
    func show(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let (now, uuid) = (console.clock.now(), try request.uuid("uuid"))
        let (entry, deliveries) = try await console.database.withConnection { connection in
            (
                try await ChangeWebhook.find(uuid, on: connection),
                try await WebhookLog(connection).deliveries(of: uuid, limit: Self.limit)
            )
        }
        let (id, environment) = (uuid.uuidString.lowercased(), entry.endpoint.environment.rawValue)
        let rows = deliveries.map { delivery in
            DeliveryRow(
                sequence: "\(delivery.sequence)", event: delivery.event, purchase: delivery.originalTransactionId,
                address: delivery.originalTransactionId.isEmpty
                    ? "" : "/purchases/\(environment)/\(delivery.originalTransactionId)",
                state: delivery.state.rawValue + (delivery.replay > 0 ? " (replay)" : ""),
                attempts: Int(delivery.attempts), status: delivery.status.map { "\($0)" } ?? "",
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
