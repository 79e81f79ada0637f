import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// What is proven to be complete, until when, and day by day.
public struct CoverageStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Begins to keep coverage of an app; what is kept already stays as it is.
    /// - Parameters:
    ///   - time: nothing before it will be asked for unasked.
    ///   - day: the first day to be swept, its first moment, UTC.
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

    /// Of all apps, kinds and environments.
    public func coverage() async throws -> [Coverage] {
        try await connection.execute(Self.list).map { row in
            let word: String = try row.value("kind")
            guard let kind = Coverage.Kind(rawValue: word) else { throw UnknownWindowWord(word: word) }
            return Coverage(
                environment: try SubscriptionStore.environment(row), bundleId: try row.value("bundle_id"), kind: kind,
                beginsAt: try row.value("begins_at"), plannedUntil: try row.value("planned_until"),
                provenUntil: try row.value("proven_until"))
        }
    }

    /// The days within a time, oldest first.
    /// - Parameters:
    ///   - environment: nil is all.
    ///   - bundleId: nil is all.
    public func days(
        from: Date, to: Date, environment: StoreEnvironment? = nil, bundleId: String? = nil
    ) async throws -> [CoverageDay] {
        try await connection.execute(Self.days, from, to, environment?.rawValue, bundleId).map { row in
            try Self.day(row)
        }
    }

    /// Days whose sweep has ended and left them unproven.
    public func daysToRepeat(plannedBefore time: Date) async throws -> [CoverageDay] {
        try await connection.execute(Self.daysToRepeat, time).map { row in try Self.day(row) }
    }

    /// The step of one proof's plan.
    public struct Move: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app.
        public var bundleId: String
        /// Whose plan it is.
        public var kind: Coverage.Kind
        /// Where the plan stood; another one has planned already where it does not.
        public var expected: Date
        /// Where it stands then.
        public var next: Date

        /// From where a coverage stands.
        public init(_ coverage: Coverage, to next: Date) {
            environment = coverage.environment
            bundleId = coverage.bundleId
            kind = coverage.kind
            expected = coverage.plannedUntil
            self.next = next
        }
    }

    /// Opens windows and moves the plan in one transaction.
    /// - Parameters:
    ///   - windows: a sweep's window is its day.
    ///   - move: nil where the plan stays, because a day is repeated.
    /// - Returns: false where another one has planned already; nothing was done then.
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

    /// Days that will never be proven are listed with the reason, and no longer waited for.
    public func giveUp(
        _ environment: StoreEnvironment, _ bundleId: String, days: [Date], window: UUID, because reason: String,
        at time: Date
    ) async throws {
        _ = try await repeating {
            try await connection.execute(Self.giveUp, environment.rawValue, bundleId, days, window, reason, time)
        }
    }

    /// Closes divided windows whose parts are settled and writes down what is proven. Repeatable at any time.
    public func settle(at time: Date) async throws {
        _ = try await repeating { try await connection.pipeline(Self.settling(at: time)) }
    }

    static func settling(at time: Date) -> [Command] {
        [Command(settleWhole, time), Command(settleDays, time), Command(settleProven)]
    }

    /// Figures for metrics and for a screen.
    public struct Status: Sendable, Hashable {
        /// Notifications that Apple lists and that are neither in the ledger nor refused, by app and environment. What
        /// two open windows list counts twice. A day counts as one where its sweep ended without a proof, and where it
        /// was given up: 0 is exact.
        public var missing: [App: Int64]
        /// Days that are over, were planned, and are not proven.
        public var days: [App: UnprovenDays]
        /// Windows by state; the failed ones of the last two days.
        public var windows: [RecoveryWindow.State: Int64]
    }

    /// How many days of an app are not proven.
    public struct UnprovenDays: Sendable, Hashable {
        /// Their sweep goes on, or will be repeated.
        public var waiting: Int64
        /// Apple no longer lists all of them: they stay unproven, with the reason in ``CoverageDay/givenUp``.
        public var givenUp: Int64
    }

    /// An app in an environment.
    public struct App: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app.
        public var bundleId: String

        /// All fields.
        public init(_ environment: StoreEnvironment, _ bundleId: String) {
            self.environment = environment
            self.bundleId = bundleId
        }
    }

    /// The figures of one moment.
    public func status() async throws -> Status {
        let answers = try await connection.pipeline([Command(Self.figures), Command(Self.states)])
        var missing: [App: Int64] = [:]
        var days: [App: UnprovenDays] = [:]
        for row in answers[0] {
            let app = App(try SubscriptionStore.environment(row), try row.value("bundle_id"))
            missing[app] = try row.value("missing")
            days[app] = UnprovenDays(
                waiting: try row.value("unproven_days"), givenUp: try row.value("given_up_days"))
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
                refused: try row.value("refused"), unreadable: try row.value("unreadable")),
            window: try row.value("window_id"), plannedAt: try row.value("planned_at"),
            provenAt: try row.optional("proven_at"), givenUp: try row.optional("given_up"))
    }
}
