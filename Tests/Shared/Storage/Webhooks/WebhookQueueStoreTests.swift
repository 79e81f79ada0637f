import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing
import WebhookDelivery

@testable import Storage

@Suite struct WebhookQueueStoreTests {
    @Test func `Each change is enqueued once for each endpoint, also where the topic repeats it`() async throws {
        try await WebhookFixture.with(2) { fixture async throws in
            let sequences = try await fixture.apply(["a", "a", "b"])
            let first = try await fixture.queue.enqueue(sequences, moving: [], at: fixture.clock.now)
            #expect(first == .stored(4))
            #expect(try await fixture.queue.enqueue(sequences, moving: [], at: fixture.clock.now) == .stored(0))
            for endpoint in fixture.endpoints {
                let deliveries = try await fixture.log.deliveries(of: endpoint.id, limit: 10)
                #expect(
                    deliveries.map(\.sequence) == sequences.reversed() && deliveries.allSatisfy { $0.attempts == 0 })
                #expect(deliveries.allSatisfy { $0.state == .waiting })
            }
            // After all of them were delivered, too.
            for endpoint in fixture.endpoints {
                while case let claims = try await fixture.claim(of: endpoint), !claims.isEmpty {
                    try await fixture.settle(claims, WebhookFixture.success)
                }
            }
            #expect(try await fixture.queue.enqueue(sequences, moving: [], at: fixture.clock.now) == .stored(0))
        }
    }

    @Test func `A probe that is given back is due at once, unless its endpoint has failed since`() async throws {
        try await WebhookFixture.with { fixture async throws in
            try await fixture.enqueue(["a"])
            for _ in 0..<Int(EndpointHealth.limit) {
                try await fixture.settle(try await fixture.claim(1, isProbe: true), WebhookFixture.failure)
            }
            try await fixture.advance(by: EndpointHealth.shortestProbe)
            let (id, now) = (fixture.endpoint.id, fixture.clock.now)
            #expect(try await fixture.queue.takeProbes([id]) == [id])
            var probe = try await fixture.claim(1, isProbe: true)
            let report = try await fixture.settlement.settle([], empty: probe, at: now)
            #expect(report.health[id]?.nextProbeAt == now)
            #expect(try await fixture.queue.takeProbes([id]) == [id])
            probe = try await fixture.claim(1, isProbe: true)
            #expect(probe.count == 1)
            _ = try await fixture.store.requestTest(id, at: now, audit: WebhookFixture.audit)
            let test = WebhookAttempt(
                .test(endpoint: id, requestedAt: now, isRepeated: false), WebhookFixture.failure, at: now)
            _ = try await fixture.settlement.settle([test], empty: probe, at: now)
            #expect(try await fixture.queue.takeProbes([id]).isEmpty)
        }
    }

    @Test func `The offset moves in the transaction that enqueues, or nothing is enqueued`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let sequences = try await fixture.apply(["a"])
            let positions = PositionStore(fixture.connection)
            _ = try await positions.establish(
                cluster: "cluster", group: "state-updater",
                lowWatermarks: [.init(topic: Fixtures.topic, partition: 0, offset: 5)])
            let wrong = [Fixtures.move(4, 6)]
            #expect(try await fixture.queue.enqueue(sequences, moving: wrong, at: fixture.clock.now) == .fenced)
            #expect(try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 10).isEmpty)
            let right = [Fixtures.move(5, 6)]
            #expect(try await fixture.queue.enqueue(sequences, moving: right, at: fixture.clock.now) == .stored(1))
            #expect(try await positions.all(cluster: "cluster", group: "state-updater").map(\.offset) == [6])
        }
    }

    @Test func `Events of a purchase are sent one after the other, and other purchases pass`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "a", "b", "a"])
            let first = try await fixture.claim()
            #expect(Set(first.sequences) == [s[0], s[2]])
            #expect(try await fixture.claim().isEmpty)
            try await fixture.settle(first.filter { $0.place.originalTransactionId == "b" }, WebhookFixture.success)
            #expect(try await fixture.claim().isEmpty)
            // The first of a fails: nothing overtakes it.
            try await fixture.settle(first.filter { $0.place.originalTransactionId == "a" }, WebhookFixture.failure)
            #expect(try await fixture.claim().isEmpty)
            try await fixture.advance(by: 6)
            for sequence in [s[0], s[1], s[3]] {
                let next = try await fixture.claim()
                #expect(next.sequences == [sequence])
                try await fixture.settle(next, WebhookFixture.success)
            }
            #expect(try await fixture.claim().isEmpty)
            let deliveries = try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 10)
            #expect(deliveries.allSatisfy { $0.state == .delivered && $0.status == 200 })
            #expect(deliveries.last?.attempts == 2 && deliveries.first?.attempts == 1)
            let attempts = try await fixture.log.attempts(of: fixture.endpoint.id, at: s)
            #expect(attempts.map(\.fault) == ["answered 500"])
            #expect(try await fixture.store.waiting().isEmpty)
        }
    }

    @Test func `At an endpoint without order each event waits for itself alone`() async throws {
        try await WebhookFixture.with(isOrdered: false) { fixture async throws in
            let s = try await fixture.enqueue(["a", "a", "b", "a"])
            let claims = try await fixture.claim()
            #expect(Set(claims.sequences) == Set(s))
            try await fixture.settle(claims.filter { $0.delivery?.sequence == s[0] }, WebhookFixture.failure)
            try await fixture.settle(claims.filter { $0.delivery?.sequence != s[0] }, WebhookFixture.success)
            try await fixture.advance(by: 6)
            let again = try await fixture.claim()
            #expect(again.sequences == [s[0]])
        }
    }

    @Test func `A lease that ended passes on, and what its old holder stores late changes no delivery`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "a"])
            let slow = try await fixture.claim()
            try await fixture.advance(by: 59)
            #expect(try await fixture.claim().isEmpty)
            try await fixture.advance(by: 1)
            let second = try await fixture.claim()
            #expect(second.sequences == [s[0]])
            func newest() async throws -> WebhookLog.Delivery? {
                try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 10).last
            }
            let before = try await newest()
            try await fixture.settle(slow, WebhookFixture.success)
            #expect(try await newest() == before)
            #expect(try await fixture.claim().isEmpty)
            try await fixture.settle(second, WebhookFixture.failure)
            let failed = try await newest()
            #expect(failed?.state == .waiting && failed?.attempts == 1)
            // Under no lease, too. The receiver's answer is in the log, but counts for nothing that another sender decides.
            try await fixture.settle(slow, .failed(status: 502, fault: "answered 502"))
            #expect(try await newest() == failed)
            let faults = try await fixture.log.attempts(of: fixture.endpoint.id, at: [s[0]]).map(\.fault)
            #expect(Set(faults) == ["answered 500", "answered 502"])
            #expect(try await fixture.claim().isEmpty)
            try await fixture.advance(by: 6)
            #expect(try await fixture.claim().sequences == [s[0]])
        }
    }

    @Test func `A delivery is given up by the sender that holds it alone`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a"])
            var slow = try await fixture.claim()
            slow[0].delivery?.attempts = Int32(RetrySchedule.delays.count)
            try await fixture.advance(by: 60)
            let second = try await fixture.claim()
            #expect(try await fixture.settle(slow, WebhookFixture.failure).givenUp.isEmpty)
            try await fixture.settle(second, WebhookFixture.success)
            let delivered = try await fixture.log.deliveries(of: fixture.endpoint.id, in: .delivered, limit: 10)
            #expect(delivered.map(\.sequence) == s)
        }
    }

    @Test func `A message says what is true when it is sent: an account that was erased meanwhile is not in it`()
        async throws
    {
        var fixtures = Fixtures(seed: 5)
        let entry = try ErasureStoreTests.entry(&fixtures, account: ErasureStoreTests.token)
        try await WebhookFixture.with { fixture async throws in
            try await ErasureStoreTests.apply([entry], fixture.connection)
            let sequences = try await TimelineStore(fixture.connection).newest(10).map(\.id)
            _ = try await fixture.queue.enqueue(sequences, moving: [], at: fixture.clock.now)
            let before = try await fixture.claim()
            #expect(before[0].delivery?.message?.appAccountToken == ErasureStoreTests.token)
            _ = try await ErasureStoreTests.forget(.erase, fixture.connection)
            try await fixture.advance(by: 60)
            let after = try await fixture.claim()
            let message = try #require(after[0].delivery?.message)
            let body = String(decoding: WebhookBody.of(message), as: UTF8.self)
            #expect(message.appAccountToken == nil && !body.contains(ErasureStoreTests.token))
            #expect(
                try await !ErasureStoreTests.tables(with: ErasureStoreTests.token, fixture.connection)
                    .contains { $0.hasPrefix("webhook") })
        }
    }

    @Test func `The database admits what a filter admits`() async throws {
        var generator = SeededGenerator(state: 12)
        let events = ["DID_RENEW", "SUBSCRIBED", "EXPIRED/VOLUNTARY", "EXPIRED", "DID_RENEW/BILLING_RECOVERY"]
        let facts = ["accessUntil", "status", "expiresDate", "productId", "nothing"]
        let filters = (0..<60).map { _ in
            func some(_ all: [String]) -> [String] {
                Bool.random(using: &generator)
                    ? [] : Array(all.shuffled(using: &generator).prefix(Int.random(in: 1...2, using: &generator)))
            }
            return WebhookFilter(
                bundleIds: some(["com.example.app", "com.example"]), events: some(events), facts: some(facts))
        }
        try await WebhookFixture.with(60, filters: filters, isActive: false) { fixture async throws in
            var fixtures = Fixtures(seed: 9)
            var entries: [LedgerEntry] = []
            for (place, event) in events.enumerated() {
                let parts = event.split(separator: "/").map(String.init)
                var entry = AccessEndStoreTests.entry(parts[0], purchase: "p\(place)", signed: 0, &fixtures)
                entry.subtype = parts.count > 1 ? parts[1] : nil
                let subtype = parts.count > 1 ? parts[1] : nil
                entry.event?.subtype = subtype
                entries.append(entry)
            }
            try await AccessEndStoreTests.apply(entries, at: 0, fixture.connection)
            let rows = try await TimelineStore(fixture.connection).newest(100)
            #expect(Set(rows.map(\.event)) == Set(events))
            _ = try await fixture.queue.enqueue(rows.map(\.id), moving: [], at: fixture.clock.now)
            var admitted = 0
            for endpoint in fixture.endpoints {
                let found = Set(try await fixture.log.deliveries(of: endpoint.id, limit: 100).map(\.sequence))
                let expected = Set(rows.filter { endpoint.filter.admits($0.message) }.map(\.id))
                #expect(found == expected, "\(endpoint.filter)")
                admitted += found.count
            }
            #expect(20...250 ~= admitted)
        }
    }

    @Test func `An endpoint gets no changes of another environment, nor earlier ones, nor ones of thirty days ago`()
        async throws
    {
        try await WebhookFixture.with { fixture async throws in
            var sandbox = WebhookEndpoint(
                id: UUID(), environment: .sandbox, url: "https://example.com", createdAt: WebhookFixture.start)
            try await fixture.store.create(sandbox, audit: WebhookFixture.audit)
            sandbox = WebhookEndpoint(
                id: UUID(), environment: .production, url: "https://example.com",
                createdAt: WebhookFixture.start.addingTimeInterval(1))
            try await fixture.store.create(sandbox, audit: WebhookFixture.audit)
            let sequences = try await fixture.apply(["a"])
            let late = WebhookFixture.start.addingTimeInterval(30 * 86_400 + 1)
            #expect(try await fixture.queue.enqueue(sequences, moving: [], at: late) == .stored(0))
            #expect(try await fixture.queue.enqueue(sequences, moving: [], at: fixture.clock.now) == .stored(1))
        }
    }

    /// Enqueueing and sending at the same time, on several connections: what is enqueued while the last delivery of its purchase is
    /// settled must not be forgotten.
    @Test func `Nothing is lost or reversed where several processes enqueue and send at the same time`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let sequences = try await fixture.apply((0..<120).map { "p\($0 % 4)" })
            let names = Dictionary(
                uniqueKeysWithValues: try await TimelineStore(fixture.connection).newest(200).map {
                    ($0.id, $0.key.originalTransactionId)
                })
            let sent = try await withThrowingTaskGroup(of: [Int64].self) { group in
                group.addTask {
                    let connection = try await fixture.databaseClock.connection()
                    for sequence in sequences {
                        _ = try await WebhookQueueStore(connection).enqueue(
                            [sequence], moving: [], at: fixture.clock.now)
                    }
                    await connection.close()
                    return []
                }
                for sender in 0..<3 {
                    group.addTask {
                        let connection = try await fixture.databaseClock.connection()
                        var sent: [Int64] = []
                        var generator = SeededGenerator(state: UInt64(sender))
                        let (queue, settlement) = (WebhookQueueStore(connection), WebhookSettlement(connection))
                        var idle = 0
                        while idle < 200 {
                            let now = fixture.clock.now
                            let claims = try await queue.claim(
                                [fixture.endpoint.id: 3], probes: [], lease: UUID())
                            idle = claims.isEmpty ? idle + 1 : 0
                            let attempts = claims.compactMap { claim -> WebhookAttempt? in
                                guard let delivery = claim.delivery else { return nil }
                                sent.append(delivery.sequence)
                                // Now and then the process dies before it stores the receiver's answer.
                                let isKilled = Int.random(in: 0..<10, using: &generator) == 0
                                return isKilled
                                    ? nil : WebhookAttempt(.delivery(claim), .delivered(status: 200), at: now)
                            }
                            _ = try await settlement.settle(
                                attempts, empty: claims.filter { $0.delivery == nil }, at: now,
                                using: SeededGenerator(state: 1))
                            if attempts.count < claims.count { try await fixture.advance(by: 61) }
                        }
                        await connection.close()
                        return sent
                    }
                }
                var sent: [[Int64]] = []
                for try await part in group { sent.append(part) }
                return sent
            }
            let deliveries = try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 1000)
            #expect(deliveries.count == 120 && deliveries.allSatisfy { $0.state == .delivered })
            #expect(Set(sent.flatMap { $0 }) == Set(sequences))
            #expect(try await fixture.store.waiting().isEmpty)
            #expect(Set(names.values).count == 4)
        }
    }
}
