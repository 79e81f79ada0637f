import CoreMetrics
import Storage
import Testing

@testable import Chassis
@testable import Scheduler

@Suite struct CoverageMetricsTests {
    @Test func `CoverageMetrics and RefundMetrics end the series of an app that left the file of apps`() {
        let registry = MetricRegistry(metrics: Metric.all)
        withMetricsFactory(registry) {
            for bundleId in ["com.example.kept", "com.example.retired"] {
                Metric.notificationsMissing.gauge(bundleId, "Production").record(1)
                Metric.incompleteDays.gauge(bundleId, "Production", "waiting").record(1)
                Metric.incompleteDays.gauge(bundleId, "Production", "given-up").record(1)
                for kind in Coverage.Kind.allCases {
                    Metric.coverageAge.gauge(bundleId, "Production", kind.rawValue).record(1)
                }
                Metric.refundsUnanswered.gauge(bundleId, "Production", "missed").record(1)
                Metric.refundsUnanswered.gauge(bundleId, "Production", "failed").record(1)
                Metric.refundOldestWaiting.gauge(bundleId, "Production").record(1)
            }
            let retired = CoverageStore.App(.production, "com.example.retired")
            CoverageMetrics.end(retired)
            RefundMetrics.end(retired)
        }
        #expect(registry.exposition().contains("com.example.kept"))
        #expect(!registry.exposition().contains("com.example.retired"))
    }
}
