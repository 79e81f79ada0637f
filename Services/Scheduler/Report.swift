import Chassis
import Storage

import struct Foundation.Date

/// What the metrics say of coverage.
///
/// Every scheduler says it, whoever plans: one that no longer planned would show for ever what it saw last.
struct Report: Sendable {
    let coverage: CoverageStore
    /// Of these, whether there is a key for them or not: who retires an app removes it from the file of apps.
    let apps: Set<CoverageStore.App>
    let now: @Sendable () -> Date

    func turn() async throws {
        let status = try await coverage.status()
        for (app, count) in status.missing where apps.contains(app) {
            Metric.notificationsMissing.gauge(app.bundleId, app.environment.rawValue).record(count)
        }
        for (app, days) in status.days where apps.contains(app) {
            Metric.unprovenDays.gauge(app.bundleId, app.environment.rawValue, "waiting").record(days.waiting)
            Metric.unprovenDays.gauge(app.bundleId, app.environment.rawValue, "given-up").record(days.givenUp)
        }
        for (state, count) in status.windows { Metric.recoveryWindows.gauge(state.rawValue).record(count) }
        for row in try await coverage.coverage() where apps.contains(.init(row.environment, row.bundleId)) {
            Metric.coverageAge.gauge(row.bundleId, row.environment.rawValue, row.kind.rawValue)
                .record(max(0, now().timeIntervalSince(row.provenUntil)))
        }
    }
}
