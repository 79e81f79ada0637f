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

@Suite(.hangLimit) struct UpkeepTests {
    private static let moment = Date(milliseconds: 1_800_000_000_000)

    private static func with(
        _ body: (PostgresConnection, WebhookEndpointStore, Upkeep, MetricRegistry) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let store = WebhookEndpointStore(connection)
            let upkeep = Upkeep(
                retention: WebhookRetention(connection), endpoints: store, now: { moment },
                logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            let registry = MetricRegistry(metrics: Metric.all)
            try await withMetricsFactory(registry) { try await body(connection, store, upkeep, registry) }
        }
    }

    private static func endpoint(in store: WebhookEndpointStore) async throws -> (id: UUID, name: String) {
        let id = UUID()
        try await store.create(
            WebhookEndpoint(id: id, environment: .production, url: "http://127.0.0.1:1/hook", createdAt: moment),
            audit: SenderTests.audit)
        return (id, id.uuidString.lowercased())
    }

    @Test func `Upkeep publishes the state of endpoints also where days of the log cannot be made`() async throws {
        try await Self.with { connection, store, upkeep, registry in
            let (_, name) = try await Self.endpoint(in: store)
            try await connection.run(unsafeScript: "drop function make_webhook_days")
            let running = Task { try await upkeep.run() }
            while !registry.exposition().contains(name) { await Task.yield() }
            running.cancel()
            try await running.value
        }
    }

    @Test func `Upkeep ends the series of a removed endpoint, so that no alert keeps its state`() async throws {
        try await Self.with { _, store, upkeep, registry in
            let (removed, kept) = (try await Self.endpoint(in: store), try await Self.endpoint(in: store))
            let published = try await upkeep.publish(after: [])
            #expect(published == [removed.name, kept.name])
            #expect(registry.exposition().contains(removed.name))
            #expect(try await store.remove(removed.id, audit: SenderTests.audit))
            #expect(try await upkeep.publish(after: published) == [kept.name])
            #expect(!registry.exposition().contains(removed.name))
            #expect(registry.exposition().contains(kept.name))
        }
    }
}
