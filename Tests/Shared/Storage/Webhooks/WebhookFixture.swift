import Contracts
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookDelivery

@testable import Storage

/// A database with endpoints, its clock, and that of a process, which both stand still.
struct WebhookFixture: Sendable {
    let connection: PostgresConnection
    let database: PostgresConfiguration
    let clock: ManualClock
    let databaseClock: DatabaseClock
    let endpoints: [WebhookEndpoint]

    var endpoint: WebhookEndpoint { endpoints[0] }
    var queue: WebhookQueueStore { WebhookQueueStore(connection) }
    var settlement: WebhookSettlement { WebhookSettlement(connection) }
    var store: WebhookEndpointStore { WebhookEndpointStore(connection) }
    var log: WebhookLog { WebhookLog(connection) }

    static let audit = OperatorAction(
        actedAt: Fixtures.now, actor: "test", operation: "webhooks test", subject: "endpoint", reason: nil)
    static let start = Fixtures.now

    /// Lends a database with active endpoints.
    static func with(
        _ count: Int = 1, isOrdered: Bool = true, filters: [WebhookFilter] = [], isActive: Bool = true,
        _ body: (WebhookFixture) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let databaseClock = try await DatabaseClock(of: database, at: start)
            let connection = try await databaseClock.connection()
            let endpoints = (0..<count).map { place in
                WebhookEndpoint(
                    id: UUID(), environment: .production, url: "https://example.com/\(place)",
                    filter: filters.isEmpty ? WebhookFilter() : filters[place], isOrdered: isOrdered, createdAt: start)
            }
            let fixture = WebhookFixture(
                connection: connection, database: database, clock: ManualClock(at: start),
                databaseClock: databaseClock, endpoints: endpoints)
            for endpoint in endpoints { try await fixture.store.create(endpoint, audit: audit) }
            if isActive {
                for endpoint in endpoints { _ = try await fixture.test(endpoint, .delivered(status: 200)) }
            }
            try await body(fixture)
            await connection.close()
        }
    }

    /// Moves both clocks.
    func advance(by seconds: Double) async throws {
        clock.advance(by: seconds)
        try await databaseClock.advance(to: clock.now)
    }

    /// Applies events of purchases, one after the other.
    /// - Parameter purchases: one event for each element.
    /// - Returns: the rows of the timeline.
    func apply(_ purchases: [String], seed: UInt64 = 1) async throws -> [Int64] {
        var fixtures = Fixtures(seed: seed)
        var counts: [String: Int] = [:]
        for purchase in purchases {
            let place = counts[purchase, default: Int(seed) * 100]
            counts[purchase] = place + 1
            let entry = AccessEndStoreTests.entry(
                place % 100 == 0 ? "SUBSCRIBED" : "DID_RENEW", purchase: purchase, from: Double(place) / 100,
                signed: Double(place) / 100, &fixtures)
            _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: clock.now)
        }
        return try await TimelineStore(connection).newest(purchases.count).map(\.id).reversed()
    }

    /// Applies and enqueues.
    @discardableResult
    func enqueue(_ purchases: [String], seed: UInt64 = 1) async throws -> [Int64] {
        let sequences = try await apply(purchases, seed: seed)
        _ = try await queue.enqueue(sequences, moving: [], at: clock.now)
        return sequences
    }

    func claim(_ places: Int = 10, isProbe: Bool = false, of endpoint: WebhookEndpoint? = nil) async throws
        -> [WebhookQueueStore.Claim]
    {
        let id = (endpoint ?? self.endpoint).id
        _ = try await queue.takeArrivals(at: clock.now)
        return try await queue.claim([id: places], probes: isProbe ? [id] : [], lease: UUID())
    }

    @discardableResult
    func settle(_ claims: [WebhookQueueStore.Claim], _ outcome: AttemptOutcome) async throws
        -> WebhookSettlement.Report
    {
        try await settlement.settle(
            claims.filter { $0.delivery != nil }.map { WebhookAttempt(.delivery($0), outcome, at: clock.now) },
            empty: claims.filter { $0.delivery == nil }, at: clock.now, using: SeededGenerator(state: 1))
    }

    func test(_ endpoint: WebhookEndpoint, _ outcome: AttemptOutcome) async throws -> WebhookSettlement.Report {
        let entry = try #require(try await store.find(endpoint.id))
        return try await settlement.settle(
            [
                WebhookAttempt(
                    .test(
                        endpoint: endpoint.id, requestedAt: try #require(entry.health.testRequestedAt),
                        isRepeated: entry.endpoint.state == .testing), outcome, at: clock.now)
            ], at: clock.now, using: SeededGenerator(state: 1))
    }

    func health() async throws -> EndpointHealth { try #require(try await store.find(endpoint.id)).health }

    static let failure = AttemptOutcome.failed(status: 500, fault: "answered 500")
    static let success = AttemptOutcome.delivered(status: 200)
}

extension [WebhookQueueStore.Claim] {
    var sequences: [Int64] { compactMap { $0.delivery?.sequence } }
}
