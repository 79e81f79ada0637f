import Chassis
import Storage

import struct Foundation.Date

/// Forgets what nobody asks for any more. What is proven of each day stays for ever.
struct Tidy: Sendable {
    let windows: RecoveryWindowStore
    let canaries: CanaryStore
    let overdue: OverdueStore
    let heartbeats: HeartbeatStore
    let retention: RetentionStore
    let policy: RetentionPolicy
    let now: @Sendable () -> Date
    let logger: Logger

    /// A settled window, with what became of each of its notifications.
    static let windowDays = 90.0
    static let canaryDays = 90.0
    /// Longer than the longest billing retry, so that nobody is asked about twice.
    static let overdueDays = 400.0
    /// Long beyond any outage of the scheduler: it reads them from where it has planned until.
    static let heartbeatDays = 60.0

    func turn() async throws {
        func ago(_ days: Double) -> Date { now().addingTimeInterval(-days * Horizon.day) }
        let forgotten = [
            "windows": try await windows.forget(settledBefore: ago(Self.windowDays)),
            "canaries": try await canaries.forget(requestedBefore: ago(Self.canaryDays)),
            "overdue": try await overdue.forget(noticedBefore: ago(Self.overdueDays)),
            "heartbeats": try await heartbeats.forget(before: ago(Self.heartbeatDays)),
        ]
        logger.debug("Old rows were forgotten", metadata: forgotten.mapValues { "\($0)" })
        let report = try await retention.run(policy, now: now())
        if !report.left.isEmpty || !report.unmade.isEmpty {
            logger.warning(
                "Somebody holds the ledger, so months are left for the next run; end long reports and backups of it",
                metadata: [
                    "undropped": "\(report.left.map(\.name))", "unmade": "\(report.unmade)",
                ])
        }
        for month in report.dropped {
            logger.notice(
                "A month of what notifications said was dropped",
                metadata: ["month": "\(month.name)", "bytes": "\(month.bytes)"])
        }
    }
}
