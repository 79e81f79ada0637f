import Contracts
import CoreMetrics
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing
import WebhookDelivery

@testable import Chassis
@testable import Storage
@testable import Webhooks

/// What happens while deliveries wait, or are lent.
@Suite struct SenderWaitingTests {
    @Test(.hangLimit) func `A delivery that Postgres lends too late is given back and not sent`() async throws {
        try await HookReceiver.listening { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                let holder = TestDatabase.connection(bench.database)
                try await holder.run(unsafeScript: "begin; lock table webhook_queue in access exclusive mode")
                let turn = Task { try await bench.sender.turn() }
                _ = try await TestDatabase.blockedBackends(asking: bench.connection)
                bench.clock.advance(by: 30)
                try await holder.run(unsafeScript: "rollback")
                await holder.close()
                #expect(try await turn.value == 1)
                #expect(try await bench.store.pause(bench.endpoint.id, audit: SenderTests.audit))
                try await bench.drain()
                #expect(receiver.all.map(\.isTest) == [true])
                // Another process can have it at once.
                let claims = try await WebhookQueueStore(bench.connection).claim(
                    [bench.endpoint.id: 1], probes: [], lease: UUID())
                #expect(claims.count == 1 && claims[0].delivery?.attempts == 0)
            }
        }
    }

    @Test(.hangLimit) func `What is due is sent while what has ended waits to be stored`() async throws {
        let (answered, answer) = AsyncStream<Void>.makeStream()
        // The first request is the endpoint's test; of the two after it, one is answered later.
        try await HookReceiver.listening(answering: { number, _ in
            if number == 3 { for await _ in answered {} }
            return .init()
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                let registry = MetricRegistry(metrics: Metric.all)
                let places =
                    "storekeeper_webhook_places_used{endpoint=\"\(bench.endpoint.id.uuidString.lowercased())\"} "
                try await withMetricsFactory(registry) {
                    try await bench.drain()
                    _ = try await bench.enqueue(["a", "b", "c", "d"])
                    #expect(try await bench.sender.turn() == 2)
                    // The request that was answered uses none any more.
                    while !registry.exposition().contains("\(places)1\n") { await Task.yield() }
                    let holder = TestDatabase.connection(bench.database)
                    try await holder.run(
                        unsafeScript: "begin; select from webhook_queue where lease is not null for update")
                    let turn = Task { try await bench.sender.turn() }
                    _ = try await TestDatabase.blockedBackends(asking: bench.connection)
                    await receiver.wait(for: 4)
                    answer.finish()
                    try await holder.run(unsafeScript: "rollback")
                    await holder.close()
                    #expect(try await turn.value == 1)
                    try await bench.drain()
                    #expect(receiver.all.count == 5)
                }
            }
        }
    }

    @Test(.hangLimit) func `An endpoint that has failed gets nothing more until that is stored`() async throws {
        let (stored, store) = AsyncStream<Void>.makeStream()
        // The first request is the endpoint's test.
        try await HookReceiver.listening(answering: { number, _ in
            if number == 3 { for await _ in stored {} }
            return .init(status: number == 2 ? .internalServerError : .ok)
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                let registry = MetricRegistry(metrics: Metric.all)
                let id = bench.endpoint.id.uuidString.lowercased()
                let places = "storekeeper_webhook_places_used{endpoint=\"\(id)\"}"
                try await withMetricsFactory(registry) {
                    try await bench.drain()
                    _ = try await bench.enqueue(["a"])
                    #expect(try await bench.sender.turn() == 1)
                    let holder = TestDatabase.connection(bench.database)
                    try await holder.run(
                        unsafeScript: "begin; select from webhook_queue where lease is not null for update")
                    let turns = Task { while try await bench.sender.turn() == 0 {} }
                    _ = try await TestDatabase.blockedBackends(asking: bench.connection)
                    _ = try await bench.enqueue(["b"])
                    // One of two turns leases it, while the failure waits to be stored.
                    _ = try await bench.sender.turn()
                    #expect(registry.exposition().contains("\(places) 1\n"))
                    store.finish()
                    try await holder.run(unsafeScript: "rollback")
                    await holder.close()
                    try await turns.value
                    try await bench.drain()
                    #expect(receiver.all.count == 3)
                }
            }
        }
    }

    @Test func `An account that is erased while deliveries wait leaves the machine in no request`() async throws {
        let (erased, kept) = ("7e3fb204-2017-4a4e-8f3b-0123456789ab", "7e3fb204-2017-4a4e-8f3b-ba9876543210")
        try await HookReceiver.listening { receiver, port in
            try await SenderTests.with(receiver, port: port) { bench in
                try await bench.drain()
                let id = bench.endpoint.id
                #expect(try await bench.store.pause(id, audit: SenderTests.audit))
                for (purchase, account) in [("a", erased), ("b", kept)] {
                    var entry = SenderTests.entry(purchase, place: 0, at: bench.clock.now)
                    entry.event?.transaction?.appAccountToken = account
                    entry.event?.transaction?.expiresDate = bench.clock.now.addingTimeInterval(4000 * 86_400)
                    _ = try await LedgerStore(bench.connection).apply([entry], moving: [], recordedAt: bench.clock.now)
                }
                let sequences = try await TimelineStore(bench.connection).newest(2).map(\.id)
                _ = try await WebhookQueueStore(bench.connection).enqueue(sequences, moving: [], at: bench.clock.now)
                let certificate = try await ErasureStore(bench.connection).forget(
                    try #require(UUID(uuidString: erased)), of: "com.example.app", in: .production, extent: .erase,
                    id: UUID(), at: bench.clock.now)
                #expect(certificate != nil)
                #expect(
                    try await bench.store.resume(id, fromNow: false, at: bench.clock.now, audit: SenderTests.audit))
                _ = try await WebhookReplayStore(bench.connection).replay(
                    .purchase("a"), to: id, at: bench.clock.now, audit: SenderTests.audit)
                try await bench.drain()
                let sent = receiver.all.filter { !$0.isTest }.map {
                    String(decoding: $0.body, as: UTF8.self) + $0.headers.description
                }
                #expect(sent.count == 3 && sent.contains { $0.contains(kept) })
                #expect(!sent.contains { $0.contains(erased) })
            }
        }
    }
}
