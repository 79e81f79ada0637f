import CoreMetrics
import Foundation
import Logging
import Postgres
import Records
import Storage
import TestSupport
import Testing
import WebhookDelivery

@testable import Chassis
@testable import Webhooks

@Suite struct UpkeepTests {
    @Test func `Upkeep ends the series of a removed endpoint, so that no alert keeps its state`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let store = WebhookEndpointStore(connection)
            let moment = Date(milliseconds: 1_800_000_000_000)
            let endpoints = [UUID(), UUID()]
            for id in endpoints {
                try await store.create(
                    WebhookEndpoint(
                        id: id, environment: .production, url: "http://127.0.0.1:1/hook", createdAt: moment),
                    audit: SenderTests.audit)
            }
            let upkeep = Upkeep(
                retention: WebhookRetention(connection), endpoints: store, now: { moment },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let registry = MetricRegistry(metrics: Metric.all)
            let names = endpoints.map { $0.uuidString.lowercased() }
            try await withMetricsFactory(registry) {
                let published = try await upkeep.publish(after: [])
                #expect(published == Set(names))
                #expect(registry.exposition().contains(names[0]))
                #expect(try await store.remove(endpoints[0], audit: SenderTests.audit))
                #expect(try await upkeep.publish(after: published) == [names[1]])
            }
            #expect(!registry.exposition().contains(names[0]))
            #expect(registry.exposition().contains(names[1]))
        }
    }
}
