import Bootstrap
import Chassis
import Storage

import struct Foundation.Date

/// Deletes expired rows. The coverage of each day stays for ever.
struct RetentionJob: Sendable {
    let windows: RecoveryWindowStore
    let canaries: CanaryStore
    let overdue: OverdueStore
    let heartbeats: HeartbeatStore
    let usage: UsageReportStore
    let comparisons: ComparisonStore
    let retention: RetentionStore
    let policy: RetentionPolicy
    let now: @Sendable () -> Date
    let logger: Logger

    /// Settled windows with their notifications.
    static let windowDays = 90.0
    static let canaryDays = 90.0
    /// Comparisons with the system that an app moves from name customers.
    static let comparisonDays = 90.0
    /// Longer than the longest billing retry, so that no purchase is requested twice.
    static let overdueDays = 400.0
    /// Longer than any outage of the scheduler, which reads heartbeats from its last plan.
    static let heartbeatDays = 60.0

    /// Rows that cannot be deleted keep back the ledger's months no more than each other.
    func turn() async throws {
        // Read once, when the clock was checked: a step of it in the minutes of a turn deletes nothing.
        let moment = now()
        @Sendable func ago(_ days: Double) -> Date { moment.addingTimeInterval(-days * HistoryRetention.day) }
        let expired = ExpiredRows(
            [
                ("windows", { try await windows.delete(settledBefore: ago(Self.windowDays)) }),
                ("canaries", { try await canaries.delete(requestedBefore: ago(Self.canaryDays)) }),
                ("overdue", { try await overdue.delete(noticedBefore: ago(Self.overdueDays)) }),
                ("heartbeats", { try await heartbeats.delete(before: ago(Self.heartbeatDays)) }),
                ("comparisons", { try await comparisons.delete(startedBefore: ago(Self.comparisonDays)) }),
                // Reports are kept as long as the payloads of the requests that they were about.
                ("usage", { try await usage.delete(reportedBefore: ago(Double(policy.ledgerDays))) }),
            ], logger: logger)
        let failure = await expired.delete()
        try await changeMonths(at: moment)
        if let failure { throw failure }
    }

    private func changeMonths(at moment: Date) async throws {
        let report = try await retention.run(policy, now: moment)
        if !report.left.isEmpty || !report.unmade.isEmpty {
            logger.warning(
                "Monthly partitions not changed: table is locked; retrying in the next run. End long reports and backups of the ledger",
                metadata: [
                    "months_not_dropped": "\(report.left.map(\.name))", "months_not_created": "\(report.unmade)",
                ])
        }
        for month in report.dropped {
            logger.notice(
                "Retention deleted the payloads of a month; the rows of the ledger remain",
                metadata: ["month": "\(month.name)", "bytes": "\(month.bytes)"])
        }
    }
}
