import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Windows of Apple's history: opening them, looking at them, and what recovery tells about them. Fetching them is
/// ``WindowClaimStore``'s.
public struct RecoveryWindowStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Opens windows; the scheduler divides those that are long. One whose id is known stays as it is.
    public func open(_ requests: [RecoveryWindow.Request], at time: Date) async throws {
        guard !requests.isEmpty else { return }
        _ = try await repeating { try await connection.pipeline([Self.opening(requests, at: time)]) }
    }

    /// Which windows ``windows(_:limit:)`` shows: those that every field agrees to; nil agrees to all.
    public struct Filter: Sendable {
        /// These.
        public var ids: [UUID]?
        /// In one of these states.
        public var states: [RecoveryWindow.State]?
        /// For one of these reasons.
        public var reasons: [RecoveryWindow.Reason]?
        /// Of this environment.
        public var environment: StoreEnvironment?
        /// Of this app.
        public var bundleId: String?
        /// The parts of this window.
        public var partOf: UUID?
        /// Without the parts of divided ones.
        public var onlyWhole = false

        /// Everything.
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

    /// A question for what Apple could not deliver, and how far it is.
    public struct Asked: Sendable, Hashable {
        /// How far it is.
        public var state: RecoveryWindow.State
        /// When it was opened.
        public var openedAt: Date

        /// All fields.
        public init(_ state: RecoveryWindow.State, openedAt: Date) {
            self.state = state
            self.openedAt = openedAt
        }
    }

    /// The latest questions for what Apple could not deliver to an app, newest first.
    public func failuresAsked(_ environment: StoreEnvironment, _ bundleId: String, limit: Int) async throws -> [Asked] {
        try await connection.execute(Self.asked, environment.rawValue, bundleId, Int64(limit)).map { row in
            Asked(try Self.state(row), openedAt: try row.value("created_at"))
        }
    }

    /// Windows that recovery has seen all pages of: it remains that each of their notifications is accounted for.
    public func seenThroughout(limit: Int = 1000) async throws -> [UUID] {
        try await connection.execute(Self.seenThroughout, Int64(limit)).map { row in try row.value("id") }
    }

    /// Closes windows whose notifications are all accounted for, then what they were parts of, and writes down what is
    /// thereby proven. Windows that are not fetched, or that have pages nobody has seen, stay as they are.
    /// - Returns: those that were closed.
    public func close(_ ids: [UUID], at time: Date) async throws -> [UUID] {
        guard !ids.isEmpty else { return [] }
        let results = try await repeating {
            try await connection.pipeline([Command(Self.close, ids, time)] + CoverageStore.settling(at: time))
        }
        return try results[0].map { row in try row.value("id") }
    }

    /// Lets windows be fetched anew that were fetched before a time and are still not settled: a page left the log before
    /// it was compared, or what was put back on the line was lost there.
    /// - Returns: which.
    public func reopen(fetchedBefore time: Date) async throws -> [UUID] {
        try await repeating { try await connection.execute(Self.reopen, time).map { row in try row.value("id") } }
    }

    /// Gives up windows that nobody can fetch: opened before a time, never claimed, of none of these apps and of none that
    /// another scheduler keeps coverage of.
    /// - Returns: which.
    public func refuse(
        openedBefore time: Date, except apps: [CoverageStore.App], because reason: String, at now: Date
    ) async throws -> [UUID] {
        try await repeating {
            try await connection.execute(
                Self.refuse, time, apps.map(\.environment.rawValue), apps.map(\.bundleId), reason, now
            ).map { row in try row.value("id") }
        }
    }

    /// Forgets windows that were settled before a time, with their parts.
    /// - Returns: how many.
    public func forget(settledBefore time: Date) async throws -> Int {
        try await repeating { try await connection.execute(Self.forget, time).affected }
    }

    // MARK: For recovery's one transaction

    /// A message of a window was compared with the ledger. Repeatable.
    public static func seeing(page: Int64, part: Int64, of window: UUID) -> Command {
        Command(see, window, page, part)
    }

    /// Adds to the counters of windows. Count only what the same transaction has inserted or changed.
    public static func counting(_ counts: [UUID: RecoveryWindow.Counts]) -> Command {
        let rows = counts.sorted { $0.key.uuidString < $1.key.uuidString }
        return Command(
            count, rows.map(\.key), rows.map(\.value.listed), rows.map(\.value.present), rows.map(\.value.missing),
            rows.map(\.value.recovered), rows.map(\.value.refused), rows.map(\.value.unreadable))
    }

    static func opening(_ requests: [RecoveryWindow.Request], at time: Date, partOf: UUID? = nil) -> Command {
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
            parts: Int(try row.value("parts", as: Int32.self)), state: try state(row),
            pages: Int(try row.value("pages", as: Int64.self)),
            counts: RecoveryWindow.Counts(
                listed: try row.value("listed"), present: try row.value("present"), missing: try row.value("missing"),
                recovered: try row.value("recovered"), refused: try row.value("refused"),
                unreadable: try row.value("unreadable")),
            attempts: Int(try row.value("attempts", as: Int32.self)), lastError: try row.optional("last_error"),
            createdAt: try row.value("created_at"), fetchedAt: try row.optional("fetched_at"),
            closedAt: try row.optional("closed_at"))
    }
}

/// A newer build wrote a word this one does not know.
struct UnknownWindowWord: Error, CustomStringConvertible {
    let word: String
    var description: String {
        "the database holds a recovery window with the word “\(word)”, which this build does not know; use a newer build"
    }
}
