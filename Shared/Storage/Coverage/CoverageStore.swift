import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The progress of completeness checks, per kind and day by day.
public struct CoverageStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Begins coverage of an app; existing coverage is not changed.
    /// - Parameters:
    ///   - time: the scheduler checks nothing before it.
    ///   - day: the first moment, UTC, of the first day to be swept.
    public func begin(
        _ environment: StoreEnvironment, _ bundleId: String, at time: Date, sweepingFrom day: Date
    ) async throws {
        let kinds = Coverage.Kind.allCases
        _ = try await connection.execute(
            Self.begin, environment.rawValue, bundleId, kinds.map(\.rawValue), kinds.map { $0 == .sweep ? day : time })
    }

    /// When the ledger's first notification of an app was recorded; nil where it has none.
    public func firstRecorded(_ environment: StoreEnvironment, _ bundleId: String) async throws -> Date? {
        try await connection.execute(Self.firstRecorded, environment.rawValue, bundleId).first?.value(at: 0)
    }

    /// The coverage of all apps, kinds and environments.
    public func coverage() async throws -> [Coverage] {
        try await connection.execute(Self.list).map { row in
            let word: String = try row.value("kind")
            guard let kind = Coverage.Kind(rawValue: word) else { throw UnknownWindowWord(word: word) }
            return Coverage(
                environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"), kind: kind,
                beginsAt: try row.value("begins_at"), plannedUntil: try row.value("planned_until"),
                completeUntil: try row.value("complete_until"))
        }
    }

    /// The days within a time, oldest first.
    /// - Parameters:
    ///   - environment: nil means all.
    ///   - bundleId: nil means all apps.
    public func days(
        from: Date, to: Date, environment: StoreEnvironment? = nil, bundleId: String? = nil
    ) async throws -> [CoverageDay] {
        try await connection.execute(Self.days, from, to, environment?.rawValue, bundleId).map { row in
            try Self.day(row)
        }
    }

    /// Days whose sweep has ended and did not complete them.
    public func daysToRepeat(plannedBefore time: Date) async throws -> [CoverageDay] {
        try await connection.execute(Self.daysToRepeat, time).map { row in try Self.day(row) }
    }

    /// The move of the planned end of one kind of check.
    public struct Move: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app's bundle identifier.
        public var bundleId: String
        /// The kind of check.
        public var kind: Coverage.Kind
        /// The expected planned end; the move fails where another scheduler has changed it.
        public var expected: Date
        /// The new planned end.
        public var next: Date

        /// A move from the planned end of a coverage.
        public init(_ coverage: Coverage, to next: Date) {
            environment = coverage.environment
            bundleId = coverage.bundleId
            kind = coverage.kind
            expected = coverage.plannedUntil
            self.next = next
        }
    }

    /// Opens windows and moves the planned end in one transaction.
    /// - Parameters:
    ///   - windows: the window of a sweep is its day.
    ///   - move: nil where a day is repeated and the planned end does not move.
    /// - Returns: false where another scheduler has planned already; nothing was written then.
    public func plan(_ windows: [RecoveryWindow.Request], moving move: Move?, at time: Date) async throws -> Bool {
        let sweeps = windows.filter { $0.reason == .sweep }
        do {
            try await repeating {
                try await connection.transaction { transaction in
                    if let move {
                        let moved = try transaction.execute(
                            Self.move, move.environment.rawValue, move.bundleId, move.kind.rawValue, move.expected,
                            move.next)
                        guard moved.affected == 1 else { throw PlannedElsewhere() }
                    }
                    guard !windows.isEmpty else { return }
                    _ = try transaction.pipeline([
                        RecoveryWindowStore.opening(windows, at: time),
                        Command(
                            Self.planDays, sweeps.map(\.scope.environment.rawValue), sweeps.map(\.scope.bundleId),
                            sweeps.map(\.scope.from), sweeps.map(\.id), time),
                    ])
                }
            }
            return true
        } catch is PlannedElsewhere {
            return false
        }
    }

    private struct PlannedElsewhere: Error {}

    /// Gives up days that can never become complete: they are listed with the reason and not swept again.
    public func giveUp(
        _ environment: StoreEnvironment, _ bundleId: String, days: [Date], window: UUID, because reason: String,
        at time: Date
    ) async throws {
        _ = try await repeating {
            try await connection.execute(Self.giveUp, environment.rawValue, bundleId, days, window, reason, time)
        }
    }

    /// Closes divided windows whose subwindows are settled and stores the complete days. Idempotent.
    public func settle(at time: Date) async throws {
        _ = try await repeating { try await connection.pipeline(Self.settling(at: time)) }
    }

    static func settling(at time: Date) -> [Command] {
        [Command(settleWhole, time), Command(settleDays, time), Command(settleProven)]
    }

    /// Counts for metrics and the status command.
    public struct Status: Sendable, Hashable {
        /// Number of notifications that Apple lists and that are neither in the ledger nor rejected, by app and environment.
        /// A notification in two open windows counts twice. A day whose sweep ended and did not complete it, or that was given up,
        /// counts as one: 0 is exact.
        public var missing: [App: Int64]
        /// Days that are over and planned, and not complete.
        public var days: [App: IncompleteDays]
        /// Number of windows by state; of failed ones those of the last two days.
        public var windows: [RecoveryWindow.State: Int64]
    }

    /// Number of incomplete days of an app.
    public struct IncompleteDays: Sendable, Hashable {
        /// Days whose sweep is under way or will be repeated.
        public var waiting: Int64
        /// Days that stay incomplete because Apple no longer lists them; ``CoverageDay/givenUp`` has the reason.
        public var givenUp: Int64
    }

    /// An app in an environment.
    public struct App: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app's bundle identifier.
        public var bundleId: String

        package init(_ environment: StoreEnvironment, _ bundleId: String) {
            self.environment = environment
            self.bundleId = bundleId
        }
    }

    /// All counts in one snapshot.
    public func status() async throws -> Status {
        let answers = try await connection.pipeline([Command(Self.figures), Command(Self.states)])
        var missing: [App: Int64] = [:]
        var days: [App: IncompleteDays] = [:]
        for row in answers[0] {
            let app = App(try SubscriptionStore.environment(row), try row.value("bundle_id"))
            missing[app] = try row.value("missing")
            days[app] = IncompleteDays(
                waiting: try row.value("incomplete_days"), givenUp: try row.value("given_up_days"))
        }
        var windows = Dictionary(
            uniqueKeysWithValues: RecoveryWindow.State.allCases.filter { $0 != .closed }.map { ($0, Int64(0)) })
        for row in answers[1] {
            guard let state = RecoveryWindow.State(rawValue: try row.value("state")) else { continue }
            windows[state] = try row.value("count")
        }
        return Status(missing: missing, days: days, windows: windows)
    }

    private static func day(_ row: Row) throws -> CoverageDay {
        CoverageDay(
            environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"),
            day: try row.value("day"),
            counts: RecoveryWindow.Counts(
                listed: try row.value("listed"),
                present: try row.value("listed", as: Int64.self) - row.value("missing") - row.value("unreadable"),
                missing: try row.value("missing"), recovered: try row.value("recovered"),
                rejected: try row.value("rejected"), unreadable: try row.value("unreadable")),
            window: try row.value("window_id"), completedAt: try row.optional("completed_at"),
            givenUp: try row.optional("given_up"))
    }
}
