import Chassis
import Storage

import struct Foundation.Date

/// Reads from the database into metrics how far the figures are, and what their last check found.
///
/// Every scheduler does, not only the lease holder: a former holder would otherwise export its last values for ever.
struct FigureMetrics: Sendable {
    let store: FigureStore
    let now: @Sendable () -> Date

    func turn() async throws {
        let status = try await store.status()
        if let asOf = status.asOf { Metric.insightAge.gauge().record(max(0, now().timeIntervalSince(asOf))) }
        if let since = status.uncheckedSince {
            Metric.insightCheckAge.gauge().record(max(0, now().timeIntervalSince(since)))
        }
        Metric.insightDifferences.gauge().record(status.differences)
    }
}
