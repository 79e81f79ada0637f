import Chassis
import Storage

import struct Foundation.Date

/// Reads from the database into metrics which answers wait, and which requests stayed without the answer they were to get.
///
/// Every scheduler does, not only the lease holder: a former holder would otherwise export its last values for ever.
struct RefundMetrics: Sendable {
    let store: RefundStatusStore
    let apps: Set<CoverageStore.App>
    let now: @Sendable () -> Date

    func turn() async throws {
        let status = try await store.status(at: now())
        for app in apps {
            let row = status.first { $0.environment == app.environment && $0.bundleId == app.bundleId }
            Metric.refundsUnanswered.gauge(app.bundleId, app.environment.rawValue, "missed").record(row?.missed ?? 0)
            Metric.refundsUnanswered.gauge(app.bundleId, app.environment.rawValue, "failed").record(row?.failed ?? 0)
            let age = row?.oldestWaiting.map { max(0, now().timeIntervalSince($0)) } ?? 0
            Metric.refundOldestWaiting.gauge(app.bundleId, app.environment.rawValue).record(age)
        }
    }

    /// Ends the series of an app that is no longer configured: an alert would keep their last values.
    static func end(_ app: CoverageStore.App) {
        let (bundleId, environment) = (app.bundleId, app.environment.rawValue)
        for kind in ["missed", "failed"] { Metric.refundsUnanswered.gauge(bundleId, environment, kind).destroy() }
        Metric.refundOldestWaiting.gauge(bundleId, environment).destroy()
    }
}
