import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing
import WebhookDelivery

@testable import Storage
@testable import Webhooks

/// Deliveries that are leased while all places are in use.
@Suite struct SenderAheadTests {
    private static let account = "7e3fb204-2017-4a4e-8f3b-0123456789ab"

    /// A sender with one place: the first of three purchases was sent, the second one waits for its answer, the third one is leased.
    private static func with(
        answer: HookReceiver.Answer = .init(), waitingBy waits: any Clock<Duration> = ContinuousClock(),
        _ body: @Sendable (SenderTests.Bench, HookReceiver, _ answer: @Sendable () -> Void) async throws -> Void
    ) async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        try await HookReceiver.listening(answering: { number, _ in
            guard number == 3 else { return .init() }
            for await _ in gate {}
            return answer
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port, places: Places(total: 1), waitingBy: waits) { bench in
                try await bench.drain()
                for purchase in ["a", "b", "c"] {
                    var entry = SenderTests.entry(purchase, place: 0, at: bench.clock.now)
                    entry.event?.transaction?.appAccountToken = account
                    entry.event?.transaction?.expiresDate = bench.clock.now.addingTimeInterval(4000 * 86_400)
                    _ = try await LedgerStore(bench.connection).apply([entry], moving: [], recordedAt: bench.clock.now)
                }
                let sequences = try await TimelineStore(bench.connection).newest(3).map(\.id)
                _ = try await WebhookQueueStore(bench.connection).enqueue(sequences, moving: [], at: bench.clock.now)
                #expect(try await bench.sender.turn() == 1)
                var begun = 0
                while begun == 0 {
                    begun = try await bench.sender.turn()
                    await Task.yield()
                }
                #expect(begun == 2)
                try await body(bench, receiver) { open.finish() }
            }
        }
    }

    @Test(.hangLimit) func `A place that becomes free is used at once, without another lease`() async throws {
        try await Self.with { bench, receiver, answer in
            // No turn is made meanwhile.
            answer()
            await receiver.wait(for: 4)
            try await bench.drain()
            #expect(receiver.all.count == 4 && Set(receiver.all.map(\.id)).count == 4)
            #expect(try await bench.store.waiting().isEmpty)
        }
    }

    @Test(.hangLimit) func `An account that is erased after the lease is not named when its place was long in coming`()
        async throws
    {
        try await Self.with { bench, receiver, answer in
            let certificate = try await ErasureStore(bench.connection).forget(
                try #require(UUID(uuidString: Self.account)), of: "com.example.app", in: .production, extent: .erase,
                id: UUID(), at: bench.clock.now)
            #expect(certificate != nil)
            bench.clock.advance(by: Sender.aheadSeconds)
            answer()
            try await bench.drain()
            let bodies = receiver.all.filter { !$0.isTest }.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(bodies.map { $0.contains(Self.account) } == [true, true, false])
            #expect(try await bench.store.waiting().isEmpty)
        }
    }

    @Test(.hangLimit) func `A receiver that asks for a pause gets nothing that was leased before`() async throws {
        let pause = HookReceiver.Answer(status: .tooManyRequests, headers: [.retryAfter: "60"])
        try await Self.with(answer: pause) { bench, receiver, answer in
            answer()
            try await bench.drain()
            #expect(receiver.all.count == 3)
            // Another process can have both at once, when the receiver wants them.
            let claims = try await WebhookQueueStore(bench.connection).claim(
                [bench.endpoint.id: 9], probes: [], lease: UUID())
            #expect(claims.count == 2 && claims.allSatisfy { $0.delivery?.attempts == 0 })
        }
    }

    @Test(.hangLimit) func `What was leased ahead is given back in time, also while nothing happens`() async throws {
        let waits = SkippingClock()
        try await Self.with(waitingBy: waits) { bench, _, answer in
            let known = waits.sleeps.count
            while waits.sleeps.count == known { _ = try await bench.sender.round() }
            #expect(waits.sleeps.last == .seconds(Sender.aheadSeconds))
            bench.clock.advance(by: Sender.aheadSeconds)
            _ = try await bench.sender.round()
            let claims = try await WebhookQueueStore(bench.connection).claim(
                [bench.endpoint.id: 9], probes: [], lease: UUID())
            #expect(claims.count == 1)
            answer()
            try await bench.drain()
        }
    }

    @Test(.hangLimit) func `A sender that stops gives back what was leased ahead before its last request ends`()
        async throws
    {
        let waits = SkippingClock()
        try await Self.with(waitingBy: waits) { bench, _, answer in
            let known = waits.sleeps.count
            async let stopped: Void = whileRunning([bench.sender]) {
                while waits.sleeps.count == known { await Task.yield() }
            }
            var claims: [WebhookQueueStore.Claim] = []
            while claims.isEmpty {
                claims = try await WebhookQueueStore(bench.connection).claim(
                    [bench.endpoint.id: 9], probes: [], lease: UUID())
            }
            #expect(claims.count == 1)
            answer()
            try await stopped
        }
    }

    @Test(.hangLimit) func `A probe that finds no place is not put off by the time of a lease`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        try await HookReceiver.listening(answering: { number, _ in
            // The first request is the endpoint's test; the second one has the only place.
            if number == 2 { for await _ in gate {} }
            return .init()
        }) { receiver, port in
            try await SenderTests.with(receiver, port: port, places: Places(total: 1)) { bench in
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                #expect(try await bench.sender.turn() == 1)
                let failing = WebhookEndpoint(
                    id: UUID(), environment: .production, url: "http://127.0.0.1:\(port)/failing",
                    createdAt: bench.clock.now)
                try await bench.store.create(failing, audit: SenderTests.audit)
                try await bench.connection.run(
                    unsafeScript: """
                        update webhook_endpoint set state = 'active' where id = '\(failing.id)';
                        update webhook_health
                        set failures = \(EndpointHealth.limit), failing_since = next_probe_at, test_requested_at = null
                        where endpoint = '\(failing.id)'
                        """)
                _ = try await bench.enqueue(["b"])
                try await bench.sender.refresh()
                #expect(try await bench.sender.turn() == 0)
                open.finish()
                try await bench.drain()
                #expect(receiver.all.count { $0.path == "/failing" } == 1)
                #expect(try await bench.store.waiting().isEmpty)
            }
        }
    }
}
