import Chassis
import Operations
import Postgres
import Storage
import StrictJSON
import WebhookDelivery

import struct Foundation.Date
import struct Foundation.UUID

/// The endpoints of webhooks: read, tested and replayed to. Only operators create and change them: a key of a backend must not make a
/// service send requests to a place of its choice.
struct WebhookHandlers: Sendable {
    private let database: Database
    private let clock: ProcessClock

    private static let standardLimit: Int64 = 50
    /// Changes of one replay.
    private static let mostReplayed = 100_000

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        clock = dependencies.clock
    }

    /// `GET /v1/webhook-endpoints`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let (entries, waiting) = try await database.withConnection { connection in
            let store = WebhookEndpointStore(connection)
            return (try await store.all(), try await store.waiting())
        }
        return APIResponse { json in
            json.objects("data", of: entries.filter { Self.isVisible($0.endpoint, request) }) { json, entry in
                Self.write(entry, waiting[entry.endpoint.id], to: &json)
            }
        }
    }

    /// `GET /v1/webhook-endpoints/{endpointId}/deliveries`
    func deliveries(_ request: APIRequest) async throws -> APIResponse {
        let state = request.query["state"].flatMap { WebhookLog.State(rawValue: $0) }
        let limit = Int(request.number("limit") ?? Self.standardLimit)
        let deliveries = try await database.withConnection { connection in
            try await WebhookLog(connection).deliveries(
                of: try await endpoint(request, connection).id, in: state, before: request.number("before"),
                limit: limit)
        }
        return APIResponse { json in
            json.objects("data", of: deliveries) { json, delivery in Self.write(delivery, to: &json) }
            json.member("hasMore", deliveries.count >= limit)
        }
    }

    /// `POST /v1/webhook-endpoints/{endpointId}/test`
    func test(_ request: APIRequest) async throws -> APIResponse {
        let performer = try request.performer(at: clock.now())
        try await database.withConnection { connection in
            let id = try await endpoint(request, connection).id
            try await ChangeWebhook(.test, of: id, on: connection).perform(on: connection, by: performer)
        }
        return APIResponse(status: 202) { json in json.member("requestedAt", performer.now.milliseconds) }
    }

    /// `POST /v1/webhook-endpoints/{endpointId}/replays`
    func replay(_ request: APIRequest) async throws -> APIResponse {
        let performer = try request.performer(at: clock.now())
        guard let selection = Self.selection(request.body?.root) else {
            throw Problem(
                .invalidRequest,
                "Name the changes by one of sequence, originalTransactionId, and from with to, and to after from; bundleIds, events "
                    + "and facts are for a time.")
        }
        return try await database.withConnection { connection in
            let id = try await endpoint(request, connection).id
            let operation = try await ReplayWebhooks(
                selection, to: id, most: Self.mostReplayed, on: connection)
            if request.isDryRun { return APIResponse(operation.plan) }
            do {
                let count = try await operation.perform(on: connection, by: performer) { count in
                    request.commands(storing: Self.response(count))
                }
                return Self.response(count)
            } catch let error as OperationError where error.kind == .failed {
                // An earlier replay waits.
                var problem = Problem(error)
                problem.mayPass = true
                throw problem
            }
        }
    }

    private static func response(_ count: Int) -> APIResponse {
        APIResponse(status: 202) { json in json.member("enqueued", count) }
    }

    private static func selection(_ body: JSONValue?) -> WebhookReplayStore.Selection? {
        let sequence = body?["sequence"]?.int64
        let purchase = body?["originalTransactionId"]?.string
        let (from, to) = (body?["from"]?.int64, body?["to"]?.int64)
        func list(_ name: String) -> [String] { body?[name]?.elements.compactMap(\.string) ?? [] }
        let filter = WebhookFilter(bundleIds: list("bundleIds"), events: list("events"), facts: list("facts"))
        switch (sequence, purchase, from, to) {
        case (let sequence?, nil, nil, nil) where filter == WebhookFilter(): return .one(sequence)
        case (nil, let purchase?, nil, nil) where filter == WebhookFilter(): return .purchase(purchase)
        case (nil, nil, let from?, let to?) where from < to:
            return .time(Date(milliseconds: from)..<Date(milliseconds: to), filter)
        default: return nil
        }
    }

    /// The endpoint of the path, where the key may know of it.
    private func endpoint(_ request: APIRequest, _ connection: PostgresConnection) async throws -> WebhookEndpoint {
        let id = UUID(uuidString: request.parameter("endpointId")) ?? .zero
        guard let entry = try await WebhookEndpointStore(connection).find(id), Self.isVisible(entry.endpoint, request)
        else {
            throw Problem(
                .notFound, "There is no webhook endpoint \(id.uuidString.lowercased()) that this key may know of.")
        }
        return entry.endpoint
    }

    /// A key of some apps knows endpoints that get changes of these apps alone.
    private static func isVisible(_ endpoint: WebhookEndpoint, _ request: APIRequest) -> Bool {
        let apps = endpoint.filter.bundleIds
        return endpoint.environment == request.key.environment
            && (request.key.bundleIds.isEmpty || !apps.isEmpty && apps.allSatisfy { request.key.covers($0) })
    }

    private static func write(
        _ entry: WebhookEndpointStore.Entry, _ waiting: WebhookEndpointStore.Waiting?, to json: inout JSONWriter
    ) {
        let (endpoint, health) = (entry.endpoint, entry.health)
        json.member("endpointId", endpoint.id.uuidString.lowercased())
        json.member("kind", endpoint.kind.rawValue)
        json.member("url", endpoint.url)
        json.member("state", entry.shownState)
        json.strings("bundleIds", of: endpoint.filter.bundleIds)
        json.strings("events", of: endpoint.filter.events)
        json.strings("facts", of: endpoint.filter.facts)
        json.member("isOrdered", endpoint.isOrdered)
        json.member("createdAt", endpoint.createdAt.milliseconds)
        json.member("failingSince", health.failingSince?.milliseconds)
        json.member("lastFault", health.lastFault)
        json.member("waiting", waiting?.count ?? 0)
        json.member("oldestWaiting", waiting?.oldest?.milliseconds)
    }

    private static func write(_ delivery: WebhookLog.Delivery, to json: inout JSONWriter) {
        json.member("id", delivery.id)
        json.member("sequence", delivery.sequence)
        json.member("isReplay", delivery.replay > 0)
        json.member("state", delivery.state.rawValue)
        json.member("event", delivery.event)
        json.member("originalTransactionId", delivery.originalTransactionId)
        json.member("appliedAt", delivery.appliedAt.milliseconds)
        json.member("attempts", Int64(delivery.attempts))
        json.member("firstAttemptAt", delivery.firstAttemptAt?.milliseconds)
        json.member("finishedAt", delivery.finishedAt?.milliseconds)
        json.member("status", delivery.status.map(Int64.init))
        json.member("milliseconds", delivery.milliseconds.map(Int64.init))
    }
}
