import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Windows of Apple's history: opening and reading them, and recovery's results. ``WindowClaimStore`` fetches them.
public struct RecoveryWindowStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Opens windows; the scheduler divides long ones. A window whose id exists is not changed.
    public func open(_ requests: [RecoveryWindow.Request], at time: Date) async throws {
        guard !requests.isEmpty else { return }
        _ = try await repeating { try await connection.pipeline([Self.opening(requests, at: time)]) }
    }

    /// A filter for ``windows(_:limit:)``: a window matches if every field matches; nil matches all.
    public struct Filter: Sendable {
        /// Windows with these ids.
        public var ids: [UUID]?
        /// Windows in one of these states.
        public var states: [RecoveryWindow.State]?
        /// Windows opened for one of these reasons.
        public var reasons: [RecoveryWindow.Reason]?
        /// Windows of this environment.
        public var environment: StoreEnvironment?
        /// Windows of this app.
        public var bundleId: String?
        /// The subwindows of this window.
        public var partOf: UUID?
        /// Whether subwindows are left out.
        public var onlyWhole = false

        /// A filter that matches all windows.
        public init() {}
    }

    /// Windows, newest first.
    public func windows(_ filter: Filter = Filter(), limit: Int = 1000) async throws -> [RecoveryWindow] {
        try await connection.execute(
            Self.find, filter.ids, filter.states?.map(\.rawValue), filter.reasons?.map(\.rawValue),
            filter.environment?.rawValue, filter.bundleId, filter.partOf, filter.onlyWhole, Int64(limit)
        ).map { row in try Self.window(row) }
    }

    /// One window; nil where there is none.
    public func window(_ id: UUID) async throws -> RecoveryWindow? {
        var filter = Filter()
        filter.ids = [id]
        return try await windows(filter, limit: 1).first
    }

    /// A check for undelivered notifications and its progress.
    public struct Asked: Sendable, Hashable {
        /// The progress of its window.
        public var state: RecoveryWindow.State
        /// When its window was opened.
        public var openedAt: Date

        package init(_ state: RecoveryWindow.State, openedAt: Date) {
            self.state = state
            self.openedAt = openedAt
        }
    }

    /// The latest checks for undelivered notifications of an app, newest first.
    public func failuresAsked(_ environment: StoreEnvironment, _ bundleId: String, limit: Int) async throws -> [Asked] {
        try await connection.execute(Self.asked, environment.rawValue, bundleId, Int64(limit)).map { row in
            Asked(try Self.state(row), openedAt: try row.value("created_at"))
        }
    }

    /// The windows of which recovery has compared all pages; their missing notifications may not be settled yet.
    public func seenThroughout(limit: Int = 1000) async throws -> [UUID] {
        try await connection.execute(Self.seenThroughout, Int64(limit)).map { row in try row.value("id") }
    }

    /// Closes windows whose notifications are all in the ledger or rejected, then the windows they are subwindows of, and
    /// stores the complete days. Windows that are not fetched, or with pages that recovery has not compared, are not changed.
    /// - Returns: the closed windows.
    public func close(_ ids: [UUID], at time: Date) async throws -> [UUID] {
        guard !ids.isEmpty else { return [] }
        let results = try await repeating {
            try await connection.pipeline([Command(Self.close, ids, time)] + CoverageStore.settling(at: time))
        }
        return try results[0].map { row in try row.value("id") }
    }

    /// Reopens windows that were fetched before a time and are still not settled: Kafka deleted a page before recovery
    /// compared it, or the pipeline lost a published notification.
    /// - Returns: the reopened windows.
    public func reopen(fetchedBefore time: Date) async throws -> [UUID] {
        try await repeating { try await connection.execute(Self.reopen, time).map { row in try row.value("id") } }
    }

    /// Gives up windows that no scheduler can fetch: opened before a time, never claimed, of none of these apps and of none
    /// that another scheduler covers.
    /// - Returns: the windows given up.
    public func refuse(
        openedBefore time: Date, except apps: [CoverageStore.App], because reason: String, at now: Date
    ) async throws -> [UUID] {
        try await repeating {
            try await connection.execute(
                Self.refuse, time, apps.map(\.environment.rawValue), apps.map(\.bundleId), reason, now
            ).map { row in try row.value("id") }
        }
    }

    /// Deletes windows that were settled before a time, with their subwindows.
    /// - Returns: number of rows.
    public func delete(settledBefore time: Date) async throws -> Int {
        // With its subwindows and their notifications, a window is many rows.
        try await deletingInPortions(of: 100) { try await connection.execute(Self.delete, time, $0).affected }
    }

    // MARK: In recovery's transaction

    /// Marks a message of a window as compared with the ledger. Idempotent.
    public static func seeing(page: Int64, part: Int64, of window: UUID) -> Command {
        Command(see, window, page, part)
    }

    /// Adds to the counters of windows. Count only rows that the same transaction has inserted or changed.
    public static func counting(_ counts: [UUID: RecoveryWindow.Counts]) -> Command {
        let rows = counts.sorted { $0.key.uuidString < $1.key.uuidString }
        return Command(
            count, rows.map(\.key), rows.map(\.value.listed), rows.map(\.value.present), rows.map(\.value.missing),
            rows.map(\.value.recovered), rows.map(\.value.rejected), rows.map(\.value.unreadable))
    }

    package static func opening(_ requests: [RecoveryWindow.Request], at time: Date, partOf: UUID? = nil) -> Command {
        let scopes = requests.map(\.scope)
        return Command(
            open, requests.map(\.id), scopes.map(\.environment.rawValue), scopes.map(\.bundleId), scopes.map(\.from),
            scopes.map(\.to), scopes.map(\.notificationType), scopes.map(\.subtype), scopes.map(\.onlyFailures),
            requests.map(\.reason.rawValue), requests.map { Int32(clamping: $0.priority) }, time, partOf)
    }

    static func scope(_ row: Row) throws -> RecoveryWindow.Scope {
        RecoveryWindow.Scope(
            environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
            from: try row.value("from_at"), to: try row.value("to_at"),
            notificationType: try row.optional("notification_type"), subtype: try row.optional("subtype"),
            onlyFailures: try row.value("only_failures"))
    }

    static func reason(_ row: Row) throws -> RecoveryWindow.Reason {
        let word: String = try row.value("reason")
        guard let reason = RecoveryWindow.Reason(rawValue: word) else { throw UnknownWindowWord(word: word) }
        return reason
    }

    private static func state(_ row: Row) throws -> RecoveryWindow.State {
        let word: String = try row.value("state")
        guard let state = RecoveryWindow.State(rawValue: word) else { throw UnknownWindowWord(word: word) }
        return state
    }

    private static func window(_ row: Row) throws -> RecoveryWindow {
        RecoveryWindow(
            id: try row.value("id"), scope: try scope(row), start: try row.value("start_at"), reason: try reason(row),
            priority: Int(try row.value("priority", as: Int32.self)), partOf: try row.optional("part_of"),
            subwindows: Int(try row.value("subwindows", as: Int32.self)), state: try state(row),
            pages: Int(try row.value("pages", as: Int64.self)),
            counts: RecoveryWindow.Counts(
                listed: try row.value("listed"), present: try row.value("present"), missing: try row.value("missing"),
                recovered: try row.value("recovered"), rejected: try row.value("rejected"),
                unreadable: try row.value("unreadable")),
            attempts: Int(try row.value("attempts", as: Int32.self)), lastError: try row.optional("last_error"),
            comparedFrom: try row.optional("compared_from"), createdAt: try row.value("created_at"),
            fetchedAt: try row.optional("fetched_at"),
            closedAt: try row.optional("closed_at"))
    }
}

/// A newer build wrote a state or reason that this build does not know.
struct UnknownWindowWord: Error, CustomStringConvertible {
    let word: String
    var description: String {
        "the database holds a recovery window with the state or reason “\(word)”, which this build does not know; use a newer build"
    }
}
