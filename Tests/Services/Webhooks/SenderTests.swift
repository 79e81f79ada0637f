import Contracts
import CoreMetrics
import Foundation
import Logging
import Postgres
import Records
import StrictJSON
import Subscriptions
import Synchronization
import TestSupport
import Testing
import WebhookDelivery

@testable import Chassis
@testable import Storage
@testable import Webhooks

@Suite struct SenderTests {
    static let secrets = WebhookSecrets(key: Array("0123456789abcdef0123456789abcdef".utf8))
    static let audit = OperatorAction(
        actedAt: Date(), actor: "test", operation: "webhooks create", subject: "endpoint", reason: nil)

    /// A sender with a database, clocks of both that stand still, and an endpoint.
    struct Bench: Sendable {
        let connection: PostgresConnection
        let database: PostgresConfiguration
        let clock: ManualClock
        let databaseClock: DatabaseClock
        let sender: Sender
        let endpoint: WebhookEndpoint

        var store: WebhookEndpointStore { WebhookEndpointStore(connection) }

        /// Moves both clocks.
        func advance(by seconds: Double) async throws {
            clock.advance(by: seconds)
            try await databaseClock.advance(to: clock.now)
        }

        /// Another sender, whose clock differs from that of the database.
        func sender(ahead seconds: Double) async throws -> Sender {
            let clock = clock
            return try await SenderTests.sender(databaseClock) { clock.now.addingTimeInterval(seconds) }
        }

        /// Applies and enqueues an event of each purchase.
        func enqueue(_ purchases: [String]) async throws -> [Int64] {
            let entries = purchases.enumerated().map { place, purchase in
                SenderTests.entry(purchase, place: place, at: clock.now)
            }
            for entry in entries {
                _ = try await LedgerStore(connection).apply([entry], moving: [], recordedAt: clock.now)
            }
            let sequences = try await TimelineStore(connection).newest(purchases.count).map(\.id)
            _ = try await WebhookQueueStore(connection).enqueue(sequences, moving: [], at: clock.now)
            return sequences.reversed()
        }

        /// Rounds until nothing is under way and nothing more is sent.
        func drain() async throws {
            try await sender.refresh()
            while try await sender.round() {}
        }
    }

    static func with(
        _ receiver: HookReceiver, port: Int, path: String = "/hook", places: Places = Places(),
        waitingBy waits: any Clock<Duration> = ContinuousClock(), _ body: (Bench) async throws -> Void
    ) async throws {
        try await TestDatabase.use { database async throws in
            let clock = ManualClock()
            let databaseClock = try await DatabaseClock(of: database, at: clock.now)
            let connection = try await databaseClock.connection()
            let endpoint = WebhookEndpoint(
                id: UUID(), environment: .production, url: "http://127.0.0.1:\(port)\(path)", createdAt: clock.now)
            try await WebhookEndpointStore(connection).create(endpoint, audit: audit)
            let sender = try await Self.sender(databaseClock, places: places, waitingBy: waits) { clock.now }
            try await body(
                Bench(
                    connection: connection, database: database, clock: clock, databaseClock: databaseClock,
                    sender: sender, endpoint: endpoint))
            await connection.close()
        }
    }

    private static func sender(
        _ databaseClock: DatabaseClock, places: Places = Places(),
        waitingBy waits: any Clock<Duration> = ContinuousClock(), now: @escaping @Sendable () -> Date
    ) async throws -> Sender {
        Sender(
            try await databaseClock.connection(), settling: try await databaseClock.connection(), secrets: secrets,
            EndpointConnectionTests.development, places: places, now: now, clock: waits,
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    }

    static func entry(_ purchase: String, place: Int, at date: Date) -> LedgerEntry {
        let uuid = UUID()
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: date.addingTimeInterval(Double(place)), notificationUUID: uuid),
            bundleId: "com.example.app", notificationType: "DID_RENEW", subtype: nil, status: 1,
            transaction: TransactionFacts(
                transactionId: "\(purchase)-\(place)-\(uuid)", productId: "gold",
                productType: "Auto-Renewable Subscription", purchaseDate: date.addingTimeInterval(Double(place)),
                expiresDate: date.addingTimeInterval(86_400 + Double(place)),
                signedDate: date.addingTimeInterval(Double(place))), renewal: nil)
        return LedgerEntry(
            notificationUUID: uuid, notificationType: "DID_RENEW", subtype: nil, environment: .production,
            bundleId: "com.example.app", appAppleId: 1, originalTransactionId: purchase,
            transactionId: event.transaction?.transactionId, signedDate: event.version.signedDate, receivedAt: date,
            source: .webhook, decodedPayload: "{}", signedPayload: Array("a.b.c".utf8), event: event,
            position: LogPosition(topic: "notifications.unique", partition: 0, offset: 0))
    }

    @Test func `A new endpoint is tested, and then gets each event signed, in order, with its position`() async throws {
        try await HookReceiver.listening { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let sequences = try await bench.enqueue(["a", "a", "b", "a"])
                try await bench.drain()
                #expect(receiver.all.count == 5 && receiver.all[0].isTest)
                let secret = Self.secrets.bytes(of: bench.endpoint.id, generation: 1)
                for request in receiver.all {
                    let timestamp = try #require(Int64(request.headers["webhook-timestamp"] ?? ""))
                    #expect(
                        request.headers["webhook-signature"]
                            == WebhookSignature.text(
                                of: request.body, id: request.id, timestamp: timestamp, secret: secret))
                    #expect(request.headers["content-type"] == "application/json")
                    #expect(request.headers["user-agent"] == "Storekeeper/\(BuildInformation.version)")
                }
                let events = receiver.all.dropFirst()
                #expect(Set(events.map { $0.headers["storekeeper-cursor"] }) == Set(sequences.map { "\($0)" }))
                let ofA = try events.map { try JSONDocument($0.body).root["data"] }
                    .filter { $0?["originalTransactionId"]?.string == "a" }.map { $0?["revision"]?.int64 ?? 0 }
                #expect(ofA.count == 3 && ofA == ofA.sorted())
                #expect(events.allSatisfy { $0.headers["storekeeper-replay"] == nil })
                #expect(try await bench.store.find(bench.endpoint.id)?.endpoint.state == .active)
                #expect(try await bench.store.waiting().isEmpty)
            }
        }
    }

    @Test func `Until its test is answered with 2xx an endpoint gets nothing else`() async throws {
        let isUp = Mutex(false)
        try await HookReceiver.listening(answering: { _, _ in
            .init(status: isUp.withLock { $0 } ? .ok : .notFound)
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                #expect(receiver.all.count == 1 && receiver.all[0].isTest)
                try await bench.advance(by: 5)
                try await bench.drain()
                #expect(receiver.all.count == 2 && receiver.all[1].isTest)
                isUp.withLock { $0 = true }
                try await bench.advance(by: 5)
                try await bench.drain()
                #expect(receiver.all.count == 4 && receiver.all[2].isTest && !receiver.all[3].isTest)
            }
        }
    }

    @Test func `A receiver that fails is probed alone, and drained in order when it answers again`() async throws {
        let isUp = Mutex(true)
        try await HookReceiver.listening(answering: { _, _ in
            .init(status: isUp.withLock { $0 } ? .ok : .internalServerError)
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                try await bench.drain()
                isUp.withLock { $0 = false }
                _ = try await bench.enqueue((0..<10).map { "p\($0)" })
                try await bench.drain()
                let during = receiver.all.count - 1
                #expect(5...7 ~= during, "\(during)")
                try await bench.advance(by: 1)
                try await bench.drain()
                #expect(receiver.all.count - 1 == during)
                try await bench.advance(by: 30)
                try await bench.drain()
                #expect(receiver.all.count - 1 == during + 1)
                isUp.withLock { $0 = true }
                try await bench.advance(by: 60)
                try await bench.drain()
                let delivered = Set(receiver.all.dropFirst(during + 2).map(\.id))
                #expect(delivered.count == 10)
                #expect(try await bench.store.waiting().isEmpty)
                #expect(try await bench.store.find(bench.endpoint.id)?.health.failures == 0)
            }
        }
    }

    @Test func `A rotation in the middle refuses no receiver: for a day both secrets sign`() async throws {
        try await HookReceiver.listening { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                try await bench.drain()
                _ = try await bench.store.rotate(bench.endpoint.id, at: bench.clock.now, audit: Self.audit)
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                try await bench.advance(by: 86_400)
                _ = try await bench.enqueue(["b"])
                try await bench.drain()
                let signatures = receiver.all.dropFirst().map {
                    $0.headers["webhook-signature"]?.split(separator: " ") ?? []
                }
                #expect(signatures.map(\.count) == [2, 1])
                for (request, generations) in zip(receiver.all.dropFirst(), [[2, 1], [2]] as [[Int32]]) {
                    let timestamp = try #require(Int64(request.headers["webhook-timestamp"] ?? ""))
                    let expected = generations.map {
                        WebhookSignature.text(
                            of: request.body, id: request.id, timestamp: timestamp,
                            secret: Self.secrets.bytes(of: bench.endpoint.id, generation: $0))
                    }
                    #expect(request.headers["webhook-signature"] == expected.joined(separator: " "))
                }
            }
        }
    }

    @Test func `A test waits for no quiet moment of a busy receiver`() async throws {
        let (tested, test) = AsyncStream<Void>.makeStream()
        // The event is answered when the operator's test has come.
        try await HookReceiver.listening(answering: { number, request in
            if request.isTest, number > 1 { test.finish() }
            if !request.isTest { for await _ in tested {} }
            return .init()
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                try await bench.sender.refresh()
                #expect(try await bench.sender.turn() == 1)
                try await bench.advance(by: 1)
                #expect(try await bench.store.requestTest(bench.endpoint.id, at: bench.clock.now, audit: Self.audit))
                try await bench.drain()
                #expect(receiver.all.map(\.isTest).filter { $0 }.count == 2 && receiver.all.count == 3)
                let log = WebhookLog(bench.connection)
                #expect(try await log.deliveries(of: bench.endpoint.id, limit: 9).map(\.state) == [.delivered])
            }
        }
    }

    @Test(.hangLimit) func `A place is shown as used while its request is under way`() async throws {
        let (gate, open) = AsyncStream<Void>.makeStream()
        try await HookReceiver.listening(answering: { number, _ in
            if number > 1 { for await _ in gate { break } }
            return .init()
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let registry = MetricRegistry(metrics: Metric.all)
                let id = bench.endpoint.id.uuidString.lowercased()
                let places = "storekeeper_webhook_places_used{endpoint=\"\(id)\"}"
                try await withMetricsFactory(registry) {
                    try await bench.drain()
                    _ = try await bench.enqueue(["a"])
                    #expect(try await bench.sender.turn() == 1)
                    #expect(registry.exposition().contains("\(places) 1\n"))
                    open.finish()
                    try await bench.drain()
                    #expect(registry.exposition().contains("\(places) 0\n"))
                }
            }
        }
    }

    @Test func `The stored answer to a failure has nothing left of the signature`() async throws {
        try await HookReceiver.listening(answering: { _, request in
            let signature = request.headers["webhook-signature"] ?? ""
            return request.isTest ? .init() : .init(status: .internalServerError, body: "no \(signature)")
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let sequences = try await bench.enqueue(["a"])
                try await bench.drain()
                let attempts = try await WebhookLog(bench.connection).attempts(of: bench.endpoint.id, at: sequences)
                #expect(attempts.map(\.answer) == ["no …"])
            }
        }
    }

    @Test func `A replay has the same id and says that it is one`() async throws {
        try await HookReceiver.listening { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                _ = try await WebhookReplayStore(bench.connection).replay(
                    .purchase("a"), to: bench.endpoint.id, at: bench.clock.now, audit: Self.audit)
                try await bench.drain()
                let events = Array(receiver.all.dropFirst())
                #expect(events.count == 2 && events[0].id == events[1].id && events[0].body == events[1].body)
                #expect(events.map { $0.headers["storekeeper-replay"] } == [nil, "true"])
            }
        }
    }

    @Test func `Where a receiver answers 410, the other endpoint of the environment is told`() async throws {
        try await HookReceiver.listening(answering: { _, request in
            .init(status: request.path == "/hook" && !request.isTest ? .gone : .ok)
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let other = WebhookEndpoint(
                    id: UUID(), environment: .production, url: "http://127.0.0.1:\(port)/other",
                    filter: WebhookFilter(events: ["NOTHING"]), createdAt: bench.clock.now)
                try await bench.store.create(other, audit: Self.audit)
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                try await bench.drain()
                let told = receiver.all.filter { $0.path == "/other" && !$0.isTest }
                #expect(told.count == 1)
                let root = try JSONDocument(told.first?.body ?? []).root
                #expect(root["type"]?.string == "webhook.disabled")
                #expect(root["data"]?["endpoint"]?.string == bench.endpoint.id.uuidString.lowercased())
                #expect(told.first?.id.hasPrefix("disabled/") == true)
            }
        }
    }

    @Test func `A receiver that refuses to be told of another endpoint gets its events all the same`() async throws {
        try await HookReceiver.listening(answering: { _, request in
            let isGone = request.path == "/hook" && !request.isTest
            return .init(status: isGone ? .gone : request.isNotice ? .badRequest : .ok)
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let other = WebhookEndpoint(
                    id: UUID(), environment: .production, url: "http://127.0.0.1:\(port)/other",
                    createdAt: bench.clock.now)
                try await bench.store.create(other, audit: Self.audit)
                try await bench.drain()
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                for _ in 0..<8 {
                    try await bench.advance(by: 1000)
                    try await bench.drain()
                }
                _ = try await bench.enqueue(["b"])
                try await bench.drain()
                let sent = receiver.all.filter { $0.path == "/other" && !$0.isTest }
                let notices = sent.filter(\.isNotice)
                #expect(notices.count >= 8 && sent.count - notices.count == 2)
                #expect(try await bench.store.find(other.id)?.health.failures == 0)
            }
        }
    }

    @Test func `An endpoint of kind apple gets Apple's request for each notification, repeated under its id`()
        async throws
    {
        let isUp = Mutex(false)
        try await HookReceiver.listening(answering: { _, request in
            .init(
                status: request.path == "/hook" || isUp.withLock { $0 } ? .ok : .internalServerError,
                body: "customer 0f1e2d3c")
        }) { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                let relay = WebhookEndpoint(
                    id: UUID(), environment: .production, url: "http://127.0.0.1:\(port)/apple", kind: .apple,
                    createdAt: bench.clock.now)
                try await bench.store.create(relay, audit: Self.audit)
                var entries = ["a", "b"].map { Self.entry($0, place: 0, at: bench.clock.now) }
                entries[0].notification.original = SignedOriginal(encoding: Array("e30.e30.c2ln".utf8))
                let ledger = LedgerStore(bench.connection)
                _ = try await ledger.apply([entries[0]], moving: [], recordedAt: bench.clock.now)
                try await bench.drain()
                // A receiver may send back what it got: nothing of its answer is kept.
                let log = WebhookLog(bench.connection)
                let attempts = try await log.attempts(
                    of: relay.id, at: try await log.deliveries(of: relay.id, limit: 9).map(\.sequence))
                #expect(attempts.map(\.fault) == ["answered 500"] && attempts.allSatisfy { $0.answer == nil })
                isUp.withLock { $0 = true }
                try await bench.advance(by: 6)
                _ = try await ledger.apply([entries[1]], moving: [], recordedAt: bench.clock.now)
                _ = try await bench.connection.execute(
                    Statement(unsafeSQL: "delete from notification_payload where notification_uuid = $1::uuid"),
                    entries[1].notificationUUID)
                try await bench.drain()
                let requests = receiver.all.filter { $0.path == "/apple" }
                #expect(requests.count == 2)
                for request in requests {
                    #expect(String(decoding: request.body, as: UTF8.self) == #"{"signedPayload":"e30.e30.c2ln"}"#)
                    #expect(request.id == entries[0].notificationUUID.uuidString.lowercased())
                    #expect(request.headers["content-type"] == "application/json")
                    #expect(request.headers["storekeeper-cursor"] == nil)
                }
                #expect(try await bench.store.waiting()[relay.id] == nil)
            }
        }
    }

    @Test func `A paused endpoint gets nothing, and what an operator asks for is seen`() async throws {
        try await HookReceiver.listening { receiver, port in
            try await Self.with(receiver, port: port) { bench in
                try await bench.drain()
                #expect(try await bench.store.pause(bench.endpoint.id, audit: Self.audit))
                _ = try await bench.enqueue(["a"])
                try await bench.drain()
                #expect(receiver.all.count == 1)
                #expect(
                    try await bench.store.resume(
                        bench.endpoint.id, fromNow: false, at: bench.clock.now, audit: Self.audit))
                try await bench.drain()
                #expect(receiver.all.map(\.isTest) == [true, true, false])
                #expect(try await bench.store.remove(bench.endpoint.id, audit: Self.audit))
                _ = try await bench.enqueue(["b"])
                try await bench.drain()
                #expect(receiver.all.count == 3)
            }
        }
    }
}
