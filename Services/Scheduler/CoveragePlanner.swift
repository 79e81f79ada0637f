import Chassis
import Contracts
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Opens history windows for all times that are not complete; ``FetchService`` fetches them.
///
/// Decides from database rows only, and a plan advances only from the value that was read: any number of schedulers may
/// plan.
struct CoveragePlanner: Sendable {
    let coverage: CoverageStore
    let windows: RecoveryWindowStore
    let heartbeats: HeartbeatStore
    /// Apps with an API key.
    let apps: [CoverageStore.App]
    let failures: FailuresPlan
    let sweep: SweepPlan
    /// Maximum age of the start of an app's coverage, seconds.
    let reach: Double
    let now: @Sendable () -> Date
    let newId: @Sendable () -> UUID
    let logger: Logger

    /// Minimum interval between two sweeps of an incomplete day, seconds.
    static let repetition = 3600.0
    /// A fetched window that is not compared for this long is fetched again, seconds.
    static let patience = 6 * 3600.0
    /// A window of an app without a key fails after this, seconds.
    static let keyPatience = 600.0
    static let missingKeyMessage =
        "no App Store Server API key for this app; add one to STOREKEEPER_APP_STORE_API_KEYS_FILE, which the scheduler reloads, "
        + "and open the window again"
    /// Number of past failure checks considered for the backoff.
    static let askedLimit = 16

    func turn() async throws {
        try await coverage.settle(at: now())
        let stuck = try await windows.reopen(fetchedBefore: now().addingTimeInterval(-Self.patience))
        if !stuck.isEmpty {
            logger.warning(
                "History windows were not compared in time; fetching them again", metadata: ["windows": "\(stuck)"])
        }
        let withoutKey = try await windows.refuse(
            openedBefore: now().addingTimeInterval(-Self.keyPatience), except: apps, because: Self.missingKeyMessage,
            at: now())
        if !withoutKey.isEmpty { logger.error("\(Self.missingKeyMessage)", metadata: ["windows": "\(withoutKey)"]) }
        var runner = PerAppRunner("plan", logger: logger)
        let kept = Set(try await coverage.coverage().map { CoverageStore.App($0.environment, $0.bundleId) })
        for app in apps where !kept.contains(app) { try await runner.attempt(app) { try await begin(app) } }
        for row in try await coverage.coverage() {
            let app = CoverageStore.App(row.environment, row.bundleId)
            guard apps.contains(app) else { continue }
            try await runner.attempt(app) {
                switch row.kind {
                case .failures: try await planFailures(row)
                case .sweep: try await planSweep(row)
                case .heartbeats: try await planOutages(row)
                }
            }
        }
        for day in try await coverage.daysToRepeat(plannedBefore: now().addingTimeInterval(-Self.repetition)) {
            let app = CoverageStore.App(day.environment, day.bundleId)
            guard apps.contains(app) else { continue }
            try await runner.attempt(app) { try await repeatSweep(day) }
        }
        try runner.throwIfAnyFailed()
    }

    /// Coverage begins where the ledger does; an operator decides about earlier times (`storekeeper recover`,
    /// `storekeeper backfill`).
    private func begin(_ app: CoverageStore.App) async throws {
        let earliest = app.environment.earliestHistory(at: now())
        let first = try await coverage.firstRecorded(app.environment, app.bundleId) ?? now()
        let start = max(first, now().addingTimeInterval(-reach), earliest)
        // A day that Apple lists only in part cannot become complete.
        let day =
            start.startOfDay >= earliest ? start.startOfDay : start.startOfDay.addingTimeInterval(HistoryRetention.day)
        try await coverage.begin(app.environment, app.bundleId, at: start, sweepingFrom: day)
        logger.notice(
            "Comparison of app with Apple's history begins; what is older than since is left out",
            metadata: ["app": "\(app.bundleId)", "environment": "\(app.environment.rawValue)", "since": "\(start)"])
    }

    private func planFailures(_ row: Coverage) async throws {
        let asked = try await windows.failuresAsked(row.environment, row.bundleId, limit: Self.askedLimit)
        guard let scope = failures.due(row, asked: asked, now: now()) else { return }
        try await open([scope], .failures, moving: .init(row, to: scope.to))
    }

    private func planSweep(_ row: Coverage) async throws {
        guard let due = sweep.due(row, now: now()) else { return }
        if !due.lost.isEmpty {
            let advice = HistoryRetention.advice(row.environment)
            logger.error(
                "Days can no longer be compared with Apple's history: \(advice)",
                metadata: [
                    "app": "\(row.bundleId)", "environment": "\(row.environment.rawValue)", "days": "\(due.lost.count)",
                ])
            try await coverage.giveUp(
                row.environment, row.bundleId, days: due.lost, window: newId(), because: advice, at: now())
        }
        try await open(due.days.map { SweepPlan.scope(row, day: $0) }, .sweep, moving: .init(row, to: due.until))
    }

    private func planOutages(_ row: Coverage) async throws {
        // A minute that lies ahead is of a wrong clock: planned until there, nothing before would be evaluated.
        let minutes = try await heartbeats.minutes(from: row.plannedUntil).filter { $0.start <= now() }
        guard let outages = Outages(behind: row, in: minutes) else { return }
        for outage in outages.found {
            logger.warning(
                outage.isSilence
                    ? "Ingest sent no heartbeats; checking Apple's history"
                    : "Ingest answered 503; checking Apple's history",
                metadata: ["from": "\(outage.from)", "to": "\(outage.to)", "app": "\(row.bundleId)"])
        }
        try await open(
            outages.found.map { $0.scope(row, now: now()) }, .outage, moving: .init(row, to: outages.until))
    }

    private func repeatSweep(_ day: CoverageDay) async throws {
        let scope = RecoveryWindow.Scope(
            environment: day.environment, bundleId: day.bundleId, from: day.day,
            to: day.day.addingTimeInterval(HistoryRetention.day))
        try await open([scope], .sweep, moving: nil)
    }

    private func open(
        _ scopes: [RecoveryWindow.Scope], _ reason: RecoveryWindow.Reason, moving move: CoverageStore.Move?
    ) async throws {
        let requests = scopes.map { RecoveryWindow.Request(id: newId(), scope: $0, reason: reason) }
        guard try await coverage.plan(requests, moving: move, at: now()) else { return }
        for request in requests {
            logger.info(
                "Opened a window of Apple's history to fetch",
                metadata: [
                    "window": "\(request.id)", "reason": "\(Self.purpose(of: request))",
                    "app": "\(request.scope.bundleId)",
                    "environment": "\(request.scope.environment.rawValue)", "from": "\(request.scope.from)",
                    "to": "\(request.scope.to)",
                ])
        }
    }

    /// For the log, where the bare name of a regular check reads like an error.
    private static func purpose(of request: RecoveryWindow.Request) -> String {
        switch request.reason {
        case .failures where !request.scope.onlyFailures: "app whose notifications Apple sends elsewhere"
        case .failures: "regular check for failed deliveries"
        case .sweep: "comparison of a day that is over"
        case .outage: "time without ingest"
        case .canary: "test notification did not arrive"
        case .manual: "operator"
        }
    }
}
