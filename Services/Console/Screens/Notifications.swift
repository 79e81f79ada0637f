import AppStore
import Contracts
import Hummingbird
import Operations
import ServiceLifecycle
import Storage
import StrictJSON

import struct Foundation.Date
import struct Foundation.UUID

/// What Apple sent: a list, a live list, and one notification with its proof.
struct NotificationScreens: Sendable {
    struct Row: Sendable {
        let type: String
        let subtype: String?
        let app: String
        let environment: String
        let recorded: Moment
        let source: String
        let isStale: Bool
        /// How late it was delivered; nil where it was not.
        let late: String?
        let address: String
    }

    struct Page: Sendable {
        let rows: [Row]
        let isEmpty: Bool
        let count: String
        let next: String?
        /// How far was looked, where the page is short because of it.
        let looked: String?
        let type: String
        let app: String
        let production: Bool
        let sandbox: Bool
        let apps: [String]
        let types: [String]
        let live: String
    }

    private static let size = 50
    private static let interval = Duration.seconds(2)
    /// Rows of one look; more are told as a number.
    private static let sample = 20
    private static let longestStream = 1800

    let console: Console

    /// `GET /notifications`
    func list(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let now = console.clock.now()
        let filter = Self.filter(request)
        let after = request.text("after").flatMap { UUID(uuidString: $0) }
        let (found, apps, count) = try await console.database.withConnection { connection in
            let pages = ConsolePages(connection)
            return (
                try await pages.notifications(filter, after: after, limit: Self.size), try await pages.apps(),
                try await pages.estimatedNotifications()
            )
        }
        let query: [(String, String?)] = [
            ("type", filter.notificationType), ("app", filter.bundleId), ("environment", filter.environment?.rawValue),
        ]
        return console.page(
            "notifications", "Notifications",
            Page(
                rows: found.lines.map { Self.row($0, now) }, isEmpty: found.lines.isEmpty,
                count: Figures.about(count),
                next: found.last.map {
                    "/notifications" + FormFields.query(query + [("after", $0.uuidString.lowercased())])
                },
                looked: found.looked.map { looked in
                    let until = found.lastRecordedAt.map { ", recorded until \(Moment($0, now: now).text)" } ?? ""
                    return "These match of the \(Figures.grouped(Int64(looked))) notifications looked at\(until)."
                },
                type: filter.notificationType ?? "", app: filter.bundleId ?? "",
                production: filter.environment == .production, sandbox: filter.environment == .sandbox,
                apps: Set(apps.map(\.bundleId)).sorted(), types: Self.types,
                live: "/notifications/live" + FormFields.query(query)),
            request)
    }

    /// `GET /notifications/live`: server-sent events with what was recorded since the last look; sampled, for half an hour.
    func live(_ request: ConsoleRequest) async throws -> ConsoleResponse {
        let filter = Self.filter(request)
        let start = console.clock.now()
        return ConsoleResponse(
            headers: [.contentType: "text/event-stream"],
            body: .stream { writer in
                var since = start
                var known: Set<UUID> = []
                try await writer.write(ByteBuffer(string: ": storekeeper\n\n"))
                while !Task.isShuttingDownGracefully,
                    console.clock.now().timeIntervalSince(start) < Double(Self.longestStream)
                {
                    // A person who signs out sees no more.
                    guard try await isSignedIn(request) else { return }
                    var recent = filter
                    recent.from = since.addingTimeInterval(-5)
                    let lines = try await console.database.withConnection { connection in
                        try await ConsolePages(connection).notifications(recent, after: nil, limit: 500).lines
                    }
                    let new = lines.filter { !known.contains($0.notificationUUID) }
                    known = Set(lines.map(\.notificationUUID))
                    since = lines.first?.recordedAt ?? since
                    var text = new.prefix(Self.sample).reversed().map { Self.event($0, console.clock.now()) }.joined()
                    if new.count > Self.sample {
                        text += "event: more\ndata: \(new.count - Self.sample)\n\n"
                    }
                    try await writer.write(ByteBuffer(string: text.isEmpty ? ": no news\n\n" : text))
                    try await console.sleep(Self.interval)
                }
            })
    }

    private func isSignedIn(_ request: ConsoleRequest) async throws -> Bool {
        guard let session = request.identity?.session else { return true }
        return try await console.database.withConnection { connection in
            try await ConsoleSessions(connection).person(of: session, at: console.clock.now()) != nil
        }
    }

    private static func event(_ line: LedgerLine, _ now: Date) -> String {
        let row = row(line, now)
        var json = JSONWriter()
        json.beginObject()
        json.member("type", ViewText.visible(row.type + (row.subtype.map { " \($0)" } ?? "")))
        json.member("app", ViewText.visible(row.app))
        json.member("environment", row.environment)
        json.member("source", row.source)
        json.member("recorded", row.recorded.text)
        json.member("address", row.address)
        json.endObject()
        return "event: notification\ndata: \(String(decoding: json.bytes, as: UTF8.self))\n\n"
    }

    private static func filter(_ request: ConsoleRequest) -> ConsolePages.Filter {
        var filter = ConsolePages.Filter()
        filter.notificationType = request.text("type")
        filter.bundleId = request.text("app")
        filter.environment = request.text("environment").flatMap(StoreEnvironment.init)
        return filter
    }

    private static func row(_ line: LedgerLine, _ now: Date) -> Row {
        Row(
            type: line.notificationType, subtype: line.subtype, app: line.bundleId,
            environment: line.environment.rawValue, recorded: Moment(line.recordedAt, now: now), source: line.source,
            isStale: !line.hasAdvanced,
            late: line.isLate ? TimeSpan.age(line.deliverySeconds ?? 0) : nil,
            address: "/notifications/\(line.notificationUUID.uuidString.lowercased())")
    }

    private static let types = NotificationType.known.map(\.rawValue).sorted()
}
