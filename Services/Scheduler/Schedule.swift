import Chassis
import Contracts
import Storage

import struct Foundation.Date
import struct Foundation.UUID

/// Which windows of time are not proven complete? Opens a window for each; fetching them is another loop's.
///
/// Everything is decided from rows, and a plan moves only from where it was read: any number of schedulers may plan.
struct Schedule: Sendable {
    let coverage: CoverageStore
    let windows: RecoveryWindowStore
    let heartbeats: HeartbeatStore
    /// Whose history may be asked for.
    let apps: [CoverageStore.App]
    let failures: FailuresPlan
    let sweep: SweepPlan
    /// How long ago coverage of an app begins at most, when it is kept for the first time.
    let reach: Double
    let now: @Sendable () -> Date
    let newId: @Sendable () -> UUID
    let logger: Logger

    /// A sweep that left its day unproven is done again, not more often than this.
    static let repetition = 3600.0
    /// What is on the log is compared within minutes; a window that was not for so long is fetched anew.
    static let patience = 6 * 3600.0
    /// Whoever asks for an app without a key is told so after this.
    static let keyPatience = 600.0
    static let keyAdvice =
        "there is no key of Apple's API for this app; add one to STOREKEEPER_API_KEYS_FILE, restart the scheduler and ask "
        + "again"
    /// So many questions for failures are looked back at: if all of them were refused, there is no longer pause.
    static let askedLimit = 16

    func turn() async throws {
        try await coverage.settle(at: now())
        let stuck = try await windows.reopen(fetchedBefore: now().addingTimeInterval(-Self.patience))
        if !stuck.isEmpty { logger.warning("Windows are fetched anew", metadata: ["windows": "\(stuck)"]) }
        let unasked = try await windows.refuse(
            openedBefore: now().addingTimeInterval(-Self.keyPatience), except: apps, because: Self.keyAdvice, at: now())
        if !unasked.isEmpty { logger.error("\(Self.keyAdvice)", metadata: ["windows": "\(unasked)"]) }
        var each = EachApp("plan", logger: logger)
        let kept = Set(try await coverage.coverage().map { CoverageStore.App($0.environment, $0.bundleId) })
        for app in apps where !kept.contains(app) { try await each.attempt(app) { try await begin(app) } }
        for row in try await coverage.coverage() {
            let app = CoverageStore.App(row.environment, row.bundleId)
            guard apps.contains(app) else { continue }
            try await each.attempt(app) {
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
            try await each.attempt(app) { try await repeatSweep(day) }
        }
        try each.tell()
    }

    /// Coverage begins where the ledger does: what came before is for an operator to fetch (`storekeeper recover`,
    /// `storekeeper backfill`), who knows what it will cost.
    private func begin(_ app: CoverageStore.App) async throws {
        let earliest = Horizon.earliest(app.environment, now: now())
        let first = try await coverage.firstRecorded(app.environment, app.bundleId) ?? now()
        let start = max(first, now().addingTimeInterval(-reach), earliest)
        // A day of which Apple lists only a part cannot be proven.
        let day = start.startOfDay >= earliest ? start.startOfDay : start.startOfDay.addingTimeInterval(Horizon.day)
        try await coverage.begin(app.environment, app.bundleId, at: start, sweepingFrom: day)
        logger.notice(
            "Coverage is kept from now on",
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
            let advice = Horizon.advice(row.environment)
            logger.error(
                "Days can no longer be proven: \(advice)",
                metadata: [
                    "app": "\(row.bundleId)", "environment": "\(row.environment.rawValue)", "days": "\(due.lost.count)",
                ])
            try await coverage.giveUp(
                row.environment, row.bundleId, days: due.lost, window: newId(), because: advice, at: now())
        }
        try await open(due.days.map { SweepPlan.scope(row, day: $0) }, .sweep, moving: .init(row, to: due.until))
    }

    private func planOutages(_ row: Coverage) async throws {
        let minutes = try await heartbeats.minutes(from: row.plannedUntil)
        guard let outages = Outages(behind: row, in: minutes) else { return }
        for outage in outages.found {
            logger.warning(
                outage.isSilence ? "Ingest was silent" : "Ingest could not take notifications",
                metadata: ["from": "\(outage.from)", "to": "\(outage.to)", "app": "\(row.bundleId)"])
        }
        try await open(
            outages.found.map { $0.scope(row, now: now()) }, .outage, moving: .init(row, to: outages.until))
    }

    private func repeatSweep(_ day: CoverageDay) async throws {
        let scope = RecoveryWindow.Scope(
            environment: day.environment, bundleId: day.bundleId, from: day.day,
            to: day.day.addingTimeInterval(Horizon.day))
        try await open([scope], .sweep, moving: nil)
    }

    private func open(
        _ scopes: [RecoveryWindow.Scope], _ reason: RecoveryWindow.Reason, moving move: CoverageStore.Move?
    ) async throws {
        let requests = scopes.map { RecoveryWindow.Request(id: newId(), scope: $0, reason: reason) }
        guard try await coverage.plan(requests, moving: move, at: now()) else { return }
        for request in requests {
            logger.info(
                "A window was opened",
                metadata: [
                    "window": "\(request.id)", "reason": "\(reason.rawValue)", "app": "\(request.scope.bundleId)",
                    "environment": "\(request.scope.environment.rawValue)", "from": "\(request.scope.from)",
                    "to": "\(request.scope.to)",
                ])
        }
    }
}
