import Commands
import Contracts
import Interpretation
import Postgres
import Storage
import Subscriptions

import struct Foundation.Date

/// Rebuilds, then compares until every purchase that did not change meanwhile is compared.
struct RebuildRun: Sendable {
    var live: PostgresConfiguration
    var fresh: PostgresConfiguration
    var isKept: Bool
    /// Maximum number of differences to print.
    var limit: Int
    /// Nil to report only.
    var repair: RebuildRepair?
    var now: @Sendable () -> Date

    /// How often changed purchases are compared again.
    private static let rounds = 5

    func report() async throws -> RebuildReport {
        let comparison = StateComparison(
            PostgresConnection(live, logger: .silent), live: live.schema, rebuilt: fresh.schema)
        // Fail before hours of work.
        try await repair?.check(comparison)
        let schema = FreshSchema(named: fresh.schema, PostgresConnection(fresh, logger: .silent))
        try await schema.create(withSettingsOf: live.schema)
        let result: Result<RebuildReport, any Error>
        do {
            var report = try await replayAndCompare(comparison)
            try await repair?.run(comparison, &report)
            result = .success(report)
        } catch { result = .failure(error) }
        if !isKept {
            do { try await schema.drop() } catch {
                throw CommandError("the schema \(fresh.schema) could not be dropped: \(error); drop it yourself")
            }
        }
        return try result.get()
    }

    private func replayAndCompare(_ comparison: StateComparison) async throws -> RebuildReport {
        var report = RebuildReport(limit: limit)
        let display = ProgressDisplay()
        let pages = LedgerPages(PostgresConnection(live, logger: .silent))
        let ledger = LedgerStore(PostgresConnection(fresh, logger: .silent))
        var progress = ProgressLine(noun: "notifications", total: try await pages.count(), done: 0, elapsed: .zero)
        var place: LedgerPages.Place?
        while true {
            let page = try await pages.page(after: place)
            guard let last = page.last else { break }
            try await replay(page, into: ledger, &report)
            place = last.place
            progress.done += page.count
            progress.total = max(progress.total, progress.done)
            display.show(progress)
        }
        display.show(progress, isLast: true)
        try await compare(comparison, pages, ledger, &report)
        report.withdrawals = try await WithdrawalComparison(comparison).findings()
        return report
    }

    private func replay(
        _ page: [LedgerPages.Recorded], into ledger: LedgerStore, _ report: inout RebuildReport
    ) async throws {
        try Task.checkCancellation()
        var entries: [LedgerEntry] = []
        for recorded in page {
            do {
                var entry = try LedgerEntry(recorded.notification, position: recorded.position)
                // The comparison needs the ledger's uuids only.
                entry.notification.decoded = Array("{}".utf8)
                entries.append(entry)
            } catch {
                report.join(RebuildReport.Unreadable(recorded.notification, reason: "\(error)"))
                // Counted, or it would be missing for ever.
                entries.append(.unread(recorded))
            }
        }
        _ = try await ledger.apply(entries, moving: [], recordedAt: now())
        report.notifications += page.count
    }

    private func compare(
        _ comparison: StateComparison, _ pages: LedgerPages, _ ledger: LedgerStore, _ report: inout RebuildReport
    ) async throws {
        try await catchUp(pages, ledger, &report)
        let display = ProgressDisplay()
        let total = try await comparison.count()
        func progress() -> ProgressLine {
            ProgressLine(
                noun: "purchases compared", total: max(total, report.purchases), done: report.purchases, elapsed: .zero)
        }
        for environment in StoreEnvironment.allCases {
            var open: [String] = []
            var last: String?
            repeat {
                try Task.checkCancellation()
                let findings = try await comparison.page(of: environment, after: last)
                report.join(findings)
                open += findings.open.map(\.originalTransactionId)
                last = findings.last
                display.show(progress())
            } while last != nil
            for _ in 0..<Self.rounds where !open.isEmpty {
                try await catchUp(pages, ledger, &report)
                var findings = try await comparison.compare(open, of: environment)
                findings.purchases = 0
                report.join(findings)
                open = findings.open.map(\.originalTransactionId)
            }
            report.changing += open.count
        }
        display.show(progress(), isLast: true)
    }

    /// Notifications committed meanwhile.
    private func catchUp(
        _ pages: LedgerPages, _ ledger: LedgerStore, _ report: inout RebuildReport
    ) async throws {
        // Under constant traffic this would never end; the next round reads the rest.
        for _ in 0..<100 {
            let page = try await pages.missing(in: fresh.schema)
            if page.isEmpty { return }
            try await replay(page, into: ledger, &report)
        }
    }
}

extension RebuildReport.Unreadable {
    init(_ told: VerifiedNotification, reason: String) {
        self.init(
            uuid: told.notificationUUID,
            purchase: told.originalTransactionId.map {
                SubscriptionKey(environment: told.environment, originalTransactionId: $0)
            }, reason: reason)
    }
}

extension LedgerEntry {
    /// A placeholder for an unreadable notification: in the ledger, without effect.
    fileprivate static func unread(_ recorded: LedgerPages.Recorded) -> LedgerEntry {
        var notification = recorded.notification
        notification.decoded = Array("{}".utf8)
        return LedgerEntry(notification, event: nil, position: recorded.position)
    }
}
