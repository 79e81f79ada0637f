import AppStore
import Contracts
import Development
import Foundation
import Kafka
import Postgres
import Records
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import Chassis
@testable import Contracts
@testable import Pipeline
@testable import Recovery

/// A broker, a database, and one window of Apple's history between them.
struct History {
    static let now = Date(milliseconds: 1_760_000_000_000)
    static let app = CoverageStore.App(.production, "com.example.app")
    static let logger = Logger.quiet

    private let harness: PipelineHarness
    let window = UUID()

    var broker: DevelopmentBroker { harness.broker }
    var database: PostgresConfiguration { harness.database }
    var connection: PostgresConnection { harness.connection }
    var producer: Producer { harness.producer }

    /// Lends a fresh one.
    static func use(_ body: (History) async throws -> Void) async throws {
        try await PipelineHarness.with { harness in
            let history = History(harness: harness)
            try await history.open()
            try await body(history)
        }
    }

    private func open() async throws {
        let scope = RecoveryWindow.Scope(
            environment: Self.app.environment, bundleId: Self.app.bundleId,
            from: Self.now.addingTimeInterval(-86_400), to: Self.now)
        try await RecoveryWindowStore(connection).open(
            [RecoveryWindow.Request(id: window, scope: scope, reason: .manual)], at: Self.now)
    }

    /// What recovery is wired from.
    func context(
        _ more: [String: String] = [:], now: @escaping @Sendable () -> Date = { now }
    ) throws -> ServiceContext<Recovery.Configuration> {
        let environment = harness.environment.merging(more) { $1 }
        let clock = ProcessClock(now: now, instant: { .now })
        return ServiceContext(
            settings: try Settings(Recovery.Configuration(), environment: environment), logger: Self.logger,
            health: Health(instant: { .now }), tracer: Tracer(isOn: false, random: { 7 }), clock: clock,
            instance: "test", environment: environment)
    }

    /// A payload with a uuid; recovery does not verify it.
    static func signedPayload(_ uuid: UUID) -> [UInt8] {
        let payload = #"{"notificationType":"DID_RENEW","notificationUUID":"\#(uuid.uuidString.lowercased())"}"#
        return Array("e30.".utf8) + Base64.encode(Array(payload.utf8), .url) + Array(".c2ln".utf8)
    }

    static func item(_ uuid: UUID, _ results: [String] = ["TIMED_OUT"]) -> HistoryPage.Item {
        HistoryPage.Item(
            signedPayload: signedPayload(uuid),
            sendAttempts: results.enumerated().map {
                .init(attemptedAt: now.addingTimeInterval(Double($0.offset) * 3600), result: $0.element)
            })
    }

    func page(_ number: Int64, _ items: [HistoryPage.Item]) -> HistoryPage {
        HistoryPage(
            window: window, environment: Self.app.environment, bundleId: Self.app.bundleId, page: number, part: 0,
            items: items, fetchedAt: Self.now)
    }

    /// What the scheduler does: pages onto the log, and into the table.
    func fetch(_ pages: [HistoryPage]) async throws {
        try await producer.send(pages.map { ProducerRecord(Topics.historyPages, $0) })
        let claims = WindowClaimStore(connection)
        var claimed: WindowClaim?
        // Who counts what has arrived has the row for a moment, and the claim passes it over.
        try await becomes("the window is claimed") {
            claimed = try await claims.claim(for: UUID(), apps: [Self.app], seconds: 60).first
            return claimed != nil
        }
        var claim = try #require(claimed)
        for (index, page) in pages.enumerated() {
            let fetched = FetchedPage(
                messages: 1, items: page.items.count, reachedAt: Self.now,
                nextToken: index + 1 < pages.count ? "t\(index)" : nil)
            #expect(try await claims.advance(&claim, by: fetched, seconds: 60, at: Self.now))
        }
    }

    /// Puts notifications into the ledger.
    func arrive(_ uuids: [UUID]) async throws {
        let positions = PositionStore(connection)
        let stood = try await positions.establish(
            cluster: "c", group: "g", lowWatermarks: [LogPosition(topic: "t", partition: 0, offset: 0)])
        let offset = try #require(stood.first).offset
        let move = PositionMove(
            cluster: "c", group: "g", topic: "t", partition: 0, expected: offset, next: offset + 1)
        let entries = uuids.map { uuid in
            LedgerEntry(
                notificationUUID: uuid, notificationType: "DID_RENEW", subtype: nil, environment: .production,
                bundleId: Self.app.bundleId, appAppleId: nil, originalTransactionId: nil, transactionId: nil,
                signedDate: nil, receivedAt: Self.now, source: .webhook, decodedPayload: "{}",
                signedPayload: Self.signedPayload(uuid), event: nil,
                position: LogPosition(topic: "t", partition: 0, offset: 0))
        }
        _ = try await LedgerStore(connection).apply(entries, moving: [move], recordedAt: Self.now)
    }

    func recoveryWindow() async throws -> RecoveryWindow {
        try #require(try await RecoveryWindowStore(connection).window(window))
    }
}

/// Asks again and again until it is so. Each question blocks: it asks the database or the broker.
func becomes(_ what: String, _ question: () async throws -> Bool) async throws {
    let deadline = ContinuousClock.now.advanced(by: .hangLimit)
    while ContinuousClock.now < deadline {
        if try await question() { return }
    }
    Issue.record("never came to be: \(what)")
}
