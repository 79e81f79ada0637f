import Chassis
import Contracts
import Hummingbird
import ServiceLifecycle
import Storage
import StrictJSON

/// `subscriptions.changed` over HTTP: the same messages with the same ids, in an order that leaves nothing out.
struct EventHandlers: Sendable {
    static let standardLimit: Int64 = 100
    /// How long a stream waits before it looks again.
    static let interval = Duration.milliseconds(500)
    /// After so many looks without an event a comment keeps proxies from closing the connection.
    static let looksUntilComment = 30
    private static let list = "events"

    private let database: Database
    private let horizon: EventHorizon
    private let cursor: Cursor
    private let keys: KeyTable
    private let budgets: KeyBudgets
    private let sleep: @Sendable (Duration) async throws -> Void

    init(_ dependencies: Dependencies) {
        database = dependencies.database
        horizon = dependencies.horizon
        cursor = dependencies.cursor
        keys = dependencies.keys
        budgets = dependencies.budgets
        sleep = dependencies.sleep
    }

    /// `GET /v1/events`
    func list(_ request: APIRequest) async throws -> APIResponse {
        let bundleIds = try request.bundleIds()
        let start = try position(request.query["after"], otherwise: 0)
        let limit = Int(request.number("limit") ?? Self.standardLimit)
        let page = try await page(after: start, request, bundleIds, limit: limit)
        let next = try cursor.text("\(page.position)", of: Self.list)
        return APIResponse { json in
            json.beginArray("data")
            for event in page.events { json.element(raw: Self.json(event.message)) }
            json.endArray()
            json.member("nextCursor", next)
            json.member("hasMore", page.hasMore)
        }
    }

    /// `GET /v1/events/stream`
    func stream(_ request: APIRequest) async throws -> APIResponse {
        let bundleIds = try request.bundleIds()
        guard let place = budgets.enter(request.key.id, .stream) else {
            throw Problem.exhausted(
                request.key, "has \(budgets.limits.streams) event streams open, as many as one key may have",
                seconds: 5,
                "close one, or read one stream for all of your processes; GET /v1/events reads the same events in pages"
            )
        }
        let last = request.headers.first { $0.name.canonicalName == "last-event-id" }?.value
        let start = try position(last ?? request.query["after"], otherwise: try horizon.id())
        var response = APIResponse.empty(200)
        response.headers[.contentType] = "text/event-stream"
        response.body = .stream { writer in
            defer { withExtendedLifetime(place) {} }
            try await write(from: start, request, bundleIds, to: &writer)
        }
        return response
    }

    private func write(
        from start: Int64, _ request: APIRequest, _ bundleIds: [String]?, to writer: inout any ResponseBodyWriter
    ) async throws {
        var position = start
        var looks = 0
        // The place without an event: a reader whose connection ends before the first one goes on from here.
        func write(comment: String) async throws {
            let id = try cursor.text("\(position)", of: Self.list)
            try await writer.write(ByteBuffer(string: ": \(comment)\nid: \(id)\n\n"))
        }
        try await write(comment: "storekeeper")
        // A stream outlives its key by no more than a request would. A process that is told to stop does not wait for readers:
        // they go on elsewhere with Last-Event-ID.
        while keys.isActive(request.key.id), !Task.isShuttingDownGracefully {
            let page = try await page(after: position, request, bundleIds, limit: Int(Self.standardLimit))
            for event in page.events {
                let id = try cursor.text("\(event.id)", of: Self.list)
                let data = String(decoding: Self.json(event.message), as: UTF8.self)
                try await writer.write(ByteBuffer(string: "id: \(id)\nevent: subscription.changed\ndata: \(data)\n\n"))
            }
            position = page.position
            looks = page.events.isEmpty ? looks + 1 : 0
            if looks >= Self.looksUntilComment {
                looks = 0
                try await write(comment: "no news")
            }
            if page.events.isEmpty, !page.hasMore { try await sleep(Self.interval) }
        }
    }

    /// Also a stream, which is written after its request was answered, takes its turns as the key.
    private func page(
        after id: Int64, _ request: APIRequest, _ bundleIds: [String]?, limit: Int
    ) async throws -> EventFeed.Page {
        let horizon = try horizon.id()
        guard id < horizon else { return EventFeed.Page(events: [], position: id, hasMore: false) }
        return try await ServedKey.$id.withValue(request.key.id) {
            try await database.withConnection { connection in
                try await EventFeed(connection).page(
                    after: id, upTo: horizon, in: request.key.environment, bundleIds: bundleIds, limit: limit)
            }
        }
    }

    /// `latest` means: from now on. A number is the `sequence` of a message; no cursor is one, because a cursor begins with a letter.
    private func position(_ text: String?, otherwise standard: @autoclosure () throws -> Int64) throws -> Int64 {
        guard let text else { return try standard() }
        if text == "latest" { return try horizon.id() }
        if let sequence = Int64(text), sequence >= 0 { return sequence }
        return Int64(try cursor.position(text, of: Self.list)) ?? 0
    }

    /// A CloudEvent.
    private static func json(_ message: SubscriptionChanged) -> [UInt8] {
        var json = JSONWriter(capacity: 1024)
        json.beginObject()
        json.member("id", message.id)
        json.member("type", "storekeeper.subscription.changed")
        json.member("data", raw: message.record().value)
        json.endObject()
        return json.bytes
    }
}
