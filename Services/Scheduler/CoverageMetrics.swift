import Chassis
import Storage

import struct Foundation.Date

/// Reads coverage from the database into metrics.
///
/// Every scheduler does, not only the lease holder: a former holder would otherwise export its last values for ever.
struct CoverageMetrics: Sendable {
    let coverage: CoverageStore
    /// The apps to export, with or without a key.
    let apps: Set<CoverageStore.App>
    let now: @Sendable () -> Date

    func turn() async throws {
        let status = try await coverage.status()
        for (app, count) in status.missing where apps.contains(app) {
            Metric.notificationsMissing.gauge(app.bundleId, app.environment.rawValue).record(count)
        }
        for (app, days) in status.days where apps.contains(app) {
            Metric.incompleteDays.gauge(app.bundleId, app.environment.rawValue, "waiting").record(days.waiting)
            Metric.incompleteDays.gauge(app.bundleId, app.environment.rawValue, "given-up").record(days.givenUp)
        }
        for (state, count) in status.windows { Metric.recoveryWindows.gauge(state.rawValue).record(count) }
        for row in try await coverage.coverage() where apps.contains(.init(row.environment, row.bundleId)) {
            Metric.coverageAge.gauge(row.bundleId, row.environment.rawValue, row.kind.rawValue)
                .record(max(0, now().timeIntervalSince(row.completeUntil)))
        }
    }

    /// Ends the series of an app that is no longer configured: an alert would keep their last values.
    static func end(_ app: CoverageStore.App) {
        let (bundleId, environment) = (app.bundleId, app.environment.rawValue)
        Metric.notificationsMissing.gauge(bundleId, environment).destroy()
        for state in ["waiting", "given-up"] { Metric.incompleteDays.gauge(bundleId, environment, state).destroy() }
        for kind in Coverage.Kind.allCases {
            Metric.coverageAge.gauge(bundleId, environment, kind.rawValue).destroy()
        }
    }
}
