import Contracts
import CoreMetrics
import Foundation
import Records
import Storage
import Testing

@testable import Chassis
@testable import StateUpdater

struct ApplyTests {
    private static let signed = Date(milliseconds: 1_760_000_000_000)

    private static func entry(_ type: String, after seconds: Double, source: NotificationSource) -> LedgerEntry {
        let notification = VerifiedNotification(
            notificationUUID: UUID(), notificationType: type, subtype: nil, environment: .sandbox,
            bundleId: "com.example.app", appAppleId: nil, originalTransactionId: nil, transactionId: nil,
            signedDate: signed, receivedAt: signed.addingTimeInterval(seconds), source: source,
            traceparent: nil, decoded: Array("{}".utf8), signedPayload: Array("a.b.c".utf8))
        return LedgerEntry(notification, event: nil, position: LogPosition(topic: "t", partition: 0, offset: 0))
    }

    @Test func `Delay of what Apple posted is counted by type, and that of what was fetched is not`() {
        let entries = [
            Self.entry("TEST", after: 3, source: .webhook), Self.entry("TEST", after: 7200, source: .webhook),
            Self.entry("METADATA_UPDATE", after: 90_000, source: .history),
        ]
        let registry = MetricRegistry(metrics: Metric.all)
        withMetricsFactory(registry) { Apply.count(Applied(), entries, Self.signed.addingTimeInterval(100_000)) }
        let text = registry.exposition()
        let name = "storekeeper_notification_delivery_delay_seconds"
        #expect(text.contains("\(name)_count{type=\"TEST\"} 2\n"), "\(text)")
        #expect(text.contains("\(name)_sum{type=\"TEST\"} 7203\n"))
        #expect(text.contains("\(name)_bucket{type=\"TEST\",le=\"600\"} 1\n"))
        #expect(!text.contains("METADATA_UPDATE"))
    }
}
