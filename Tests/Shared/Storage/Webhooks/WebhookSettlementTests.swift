import Foundation
import Postgres
import TestSupport
import Testing
import WebhookDelivery

@testable import Storage

@Suite struct WebhookSettlementTests {
    @Test func `A delivery is retried over 75.6 hours and then given up; the purchase goes on with its next event`()
        async throws
    {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "a", "b"])
            var waits: [Double] = []
            var last = fixture.clock.now
            var attempts = 0
            var report = WebhookSettlement.Report()
            while attempts < 20, report.givenUp.isEmpty {
                let delay = RetrySchedule.delays[min(max(attempts, 1), RetrySchedule.delays.count) - 1]
                guard let claim = try await fixture.claim().first(where: { $0.place.originalTransactionId == "a" })
                else {
                    try await fixture.advance(by: delay / 50)
                    continue
                }
                #expect(claim.delivery?.sequence == s[0])
                waits.append(fixture.clock.now.timeIntervalSince(last))
                last = fixture.clock.now
                report = try await fixture.settle([claim], WebhookFixture.failure)
                attempts += 1
                guard report.givenUp.isEmpty else { break }
                // Another event is taken meanwhile, so the endpoint is not failing.
                let other = try await fixture.enqueue(["c\(attempts)"], seed: UInt64(attempts + 1))
                let claims = try await fixture.claim().filter { $0.delivery?.sequence == other[0] }
                try await fixture.settle(claims, WebhookFixture.success)
            }
            #expect(attempts == 10 && report.givenUp == [fixture.endpoint.id: 1])
            for (wait, delay) in zip(waits.dropFirst(), RetrySchedule.delays) {
                #expect((delay * 0.9 - 1...delay * 1.13).contains(wait), "\(wait) \(delay)")
            }
            #expect(try await fixture.claim().sequences.contains(s[1]))
            let given = try await fixture.log.deliveries(of: fixture.endpoint.id, in: .givenUp, limit: 10)
            #expect(given.map(\.sequence) == [s[0]] && given[0].attempts == 10)
            let log = try await fixture.log.attempts(of: fixture.endpoint.id, at: [s[0]])
            #expect(log.count == 10)
            let newest = try await fixture.log.attempts(of: fixture.endpoint.id, at: [s[0]], most: 3)
            #expect(newest == Array(log.suffix(3)))
        }
    }

    @Test func `A failing endpoint is probed, uses up no attempts, and drains at once when it answers again`()
        async throws
    {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue((0..<20).map { "p\($0)" } + ["p0"])
            for _ in 0..<5 { try await fixture.settle(try await fixture.claim(1), WebhookFixture.failure) }
            #expect(try await fixture.health().isFailing)
            // Those under way when the fifth failed use up nothing either.
            let late = try await fixture.claim(3)
            try await fixture.settle(late, WebhookFixture.failure)
            #expect(try await fixture.health().failures == 5)
            let uncounted = try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 100)
                .filter { late.sequences.contains($0.sequence) }
            #expect(uncounted.count == 3 && uncounted.allSatisfy { $0.attempts == 0 && $0.state == .waiting })
            // An hour of probes.
            var probes: [Int64] = []
            let end = fixture.clock.now.addingTimeInterval(3600)
            while case let wait = try await fixture.health().nextProbeAt.timeIntervalSince(fixture.clock.now),
                fixture.clock.now.addingTimeInterval(wait) <= end
            {
                try await fixture.advance(by: max(1, wait.rounded(.up)))
                let id = fixture.endpoint.id
                #expect(try await fixture.queue.takeProbes([id]) == [id])
                #expect(try await fixture.queue.takeProbes([id]).isEmpty)
                let claims = try await fixture.claim(1, isProbe: true)
                probes += claims.sequences
                try await fixture.settle(claims, WebhookFixture.failure)
            }
            try await fixture.advance(by: max(0, end.timeIntervalSince(fixture.clock.now)))
            #expect(9...12 ~= probes.count, "\(probes.count)")
            let attempts = try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 100).map(\.attempts)
            #expect(attempts.reduce(0, +) == 5)
            let probe = try await fixture.claim(1, isProbe: true)
            let report = try await fixture.settle(probe, WebhookFixture.success)
            #expect(report.recovered == [fixture.endpoint.id])
            #expect(try await !fixture.health().isFailing)
            var delivered = probe.sequences
            while case let claims = try await fixture.claim(10), !claims.isEmpty {
                delivered += claims.sequences
                try await fixture.settle(claims, WebhookFixture.success)
            }
            #expect(Set(delivered) == Set(s) && delivered.count == s.count)
            #expect(try #require(delivered.firstIndex(of: s[0])) < #require(delivered.firstIndex(of: s[20])))
        }
    }

    @Test func `After five days of failing an endpoint is disabled; resumed, it gets what waited`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "b"])
            let step = 3600.0
            var report = WebhookSettlement.Report()
            while report.disabled.isEmpty {
                let claims = try await fixture.claim(1, isProbe: true)
                report = try await fixture.settle(claims, WebhookFixture.failure)
                try await fixture.advance(by: step)
            }
            let elapsed = fixture.clock.now.timeIntervalSince(WebhookFixture.start)
            // The fifth request in a row that failed made it failing.
            let patience = EndpointHealth.patience + 4 * step
            #expect((patience...patience + 2 * step + 1).contains(elapsed))
            #expect(report.disabled == [fixture.endpoint.id: .failing])
            var entry = try #require(try await fixture.store.find(fixture.endpoint.id))
            #expect(entry.endpoint.state == .disabled && entry.health.disabledBecause == .failing)
            #expect(try await fixture.log.deliveries(of: fixture.endpoint.id, in: .waiting, limit: 9).count == 2)
            let more = try await fixture.enqueue(["c"], seed: 7)
            #expect(
                try await fixture.store.resume(
                    fixture.endpoint.id, fromNow: false, at: fixture.clock.now, audit: WebhookFixture.audit))
            entry = try #require(try await fixture.store.find(fixture.endpoint.id))
            #expect(entry.endpoint.state == .testing && entry.health.testRequestedAt == fixture.clock.now)
            #expect(try await fixture.test(fixture.endpoint, WebhookFixture.success).activated == [fixture.endpoint.id])
            #expect(Set(try await fixture.claim().sequences) == Set(s + more))
        }
    }

    @Test func `Resumed from now on, an endpoint gives up what waits`() async throws {
        try await WebhookFixture.with { fixture async throws in
            _ = try await fixture.enqueue(["a", "b"])
            #expect(try await fixture.store.pause(fixture.endpoint.id, audit: WebhookFixture.audit))
            try await fixture.advance(by: 10)
            #expect(
                try await fixture.store.resume(
                    fixture.endpoint.id, fromNow: true, at: fixture.clock.now, audit: WebhookFixture.audit))
            #expect(try await fixture.claim().isEmpty)
            #expect(try await fixture.log.deliveries(of: fixture.endpoint.id, in: .givenUp, limit: 9).count == 2)
            let s = try await fixture.enqueue(["c"], seed: 3)
            #expect(try await fixture.claim().sequences == s)
        }
    }

    @Test func `410 disables, Retry-After pauses, and neither uses up an attempt`() async throws {
        try await WebhookFixture.with { fixture async throws in
            _ = try await fixture.enqueue(["a", "b"])
            try await fixture.settle(try await fixture.claim(1), .throttled(status: 429, seconds: 120))
            #expect(try await fixture.health().pausedUntil == fixture.clock.now.addingTimeInterval(120))
            #expect(try await fixture.health().failures == 0)
            try await fixture.advance(by: 120)
            let report = try await fixture.settle(try await fixture.claim(1), .gone)
            #expect(report.disabled == [fixture.endpoint.id: .gone])
            let deliveries = try await fixture.log.deliveries(of: fixture.endpoint.id, limit: 9)
            #expect(deliveries.allSatisfy { $0.attempts == 0 && $0.state == .waiting })
            #expect(try await fixture.store.find(fixture.endpoint.id)?.endpoint.state == .disabled)
        }
    }

    @Test func `The other active endpoints of the environment are told of a disabled one, until one answer 2xx`()
        async throws
    {
        try await WebhookFixture.with(2) { fixture async throws in
            _ = try await fixture.enqueue(["a"])
            let sandbox = WebhookEndpoint(
                id: UUID(), environment: .sandbox, url: "https://example.com", createdAt: WebhookFixture.start)
            try await fixture.store.create(sandbox, audit: WebhookFixture.audit)
            try await fixture.settle(try await fixture.claim(1), .gone)
            let notices = try await fixture.store.all().map { ($0.endpoint.id, $0.health.notice) }
            let notice = EndpointHealth.Notice(about: fixture.endpoint.id, at: fixture.clock.now)
            for (id, told) in notices { #expect(told == (id == fixture.endpoints[1].id ? notice : nil)) }
            for outcome in [WebhookFixture.failure, WebhookFixture.success] {
                _ = try await fixture.settlement.settle(
                    [
                        WebhookAttempt(
                            .notice(endpoint: fixture.endpoints[1].id, notice), outcome, at: fixture.clock.now)
                    ], at: fixture.clock.now, using: SeededGenerator(state: 1))
                let left = try await fixture.store.find(fixture.endpoints[1].id)?.health.notice
                #expect(left == (outcome == WebhookFixture.failure ? notice : nil))
            }
        }
    }

    @Test func `Of endpoints that are disabled at once, or while another notice waits, each is told of`() async throws {
        try await WebhookFixture.with(4) { fixture async throws in
            let (disabled, other) = (fixture.endpoints.dropLast(), fixture.endpoints[3].id)
            _ = try await fixture.enqueue(["a"])
            var claims: [WebhookQueueStore.Claim] = []
            for endpoint in disabled { claims += try await fixture.claim(1, of: endpoint) }
            try await fixture.settle(Array(claims.prefix(2)), .gone)
            try await fixture.advance(by: 1)
            try await fixture.settle(Array(claims.suffix(1)), .gone)
            var told: [UUID] = []
            while let notice = try await fixture.store.find(other)?.health.notice, told.count < 9 {
                told.append(notice.about)
                _ = try await fixture.settlement.settle(
                    [WebhookAttempt(.notice(endpoint: other, notice), WebhookFixture.success, at: fixture.clock.now)],
                    at: fixture.clock.now, using: SeededGenerator(state: 1))
            }
            #expect(Set(told) == Set(disabled.map(\.id)) && told.count == 3 && told.last == disabled.last?.id)
        }
    }

    @Test func `A receiver that refuses to be told of another endpoint is not failing, and is told for five days`()
        async throws
    {
        try await WebhookFixture.with(2) { fixture async throws in
            let other = fixture.endpoints[1].id
            _ = try await fixture.enqueue(["a"])
            try await fixture.settle(try await fixture.claim(1), .gone)
            let notice = EndpointHealth.Notice(about: fixture.endpoint.id, at: fixture.clock.now)
            for after in [0, 900, 1800, 2700, 3600, 4500, EndpointHealth.patience + 1] {
                let now = notice.at.addingTimeInterval(after)
                try await fixture.advance(by: now.timeIntervalSince(fixture.clock.now))
                let report = try await fixture.settlement.settle(
                    [WebhookAttempt(.notice(endpoint: other, notice), WebhookFixture.failure, at: now)],
                    at: now, using: SeededGenerator(state: 1))
                #expect(report.disabled.isEmpty)
                let entry = try #require(try await fixture.store.find(other))
                #expect(entry.endpoint.state == .active && entry.health.failures == 0)
                #expect(entry.health.nextProbeAt == now.addingTimeInterval(EndpointHealth.longestProbe))
                #expect(entry.health.notice == (after < EndpointHealth.patience ? notice : nil))
            }
        }
    }

    @Test func `A new endpoint is active after the first test that is answered with 2xx`() async throws {
        try await WebhookFixture.with(isActive: false) { fixture async throws in
            let id = fixture.endpoint.id
            #expect(try await fixture.queue.takeProbes([id]) == [id])
            _ = try await fixture.test(fixture.endpoint, WebhookFixture.failure)
            var entry = try #require(try await fixture.store.find(id))
            #expect(entry.endpoint.state == .testing && entry.health.testRequestedAt == WebhookFixture.start)
            try await fixture.advance(by: 5)
            _ = try await fixture.test(fixture.endpoint, .delivered(status: 204))
            entry = try #require(try await fixture.store.find(id))
            #expect(
                entry.endpoint.state == .active && entry.health.testRequestedAt == nil && entry.health.failures == 0)
            let tests = try await fixture.log.tests(of: id, since: WebhookFixture.start)
            #expect(tests.map(\.fault) == ["answered 500", nil] && tests.map(\.status) == [500, 204])
            // A test that an operator asks for is sent once.
            #expect(try await fixture.store.requestTest(id, at: fixture.clock.now, audit: WebhookFixture.audit))
            _ = try await fixture.test(fixture.endpoint, WebhookFixture.failure)
            entry = try #require(try await fixture.store.find(id))
            #expect(entry.endpoint.state == .active && entry.health.testRequestedAt == nil)
        }
    }

    @Test func `Rotation raises the generation; removal takes what waits along`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let id = fixture.endpoint.id
            #expect(try await fixture.store.rotate(id, at: fixture.clock.now, audit: WebhookFixture.audit) == 2)
            #expect(try await fixture.store.find(id)?.endpoint.rotatedAt == fixture.clock.now)
            #expect(try await fixture.store.rotate(UUID(), at: fixture.clock.now, audit: WebhookFixture.audit) == nil)
            _ = try await fixture.enqueue(["a"])
            let claims = try await fixture.claim()
            #expect(try await fixture.store.remove(id, audit: WebhookFixture.audit))
            try await fixture.settle(claims, WebhookFixture.success)
            #expect(try await fixture.store.waiting().isEmpty)
            #expect(try await !fixture.store.remove(id, audit: WebhookFixture.audit))
            let actions = try await OperatorActionStore(fixture.connection).newest(20)
            #expect(actions.count == 3)
        }
    }

    @Test func `A replay sends the same ids again, of any age, in order, and only what the filter admits`() async throws
    {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "a", "b"])
            var ids: [Int64: String] = [:]
            while case let claims = try await fixture.claim(), !claims.isEmpty {
                for claim in claims { ids[claim.delivery?.sequence ?? 0] = claim.delivery?.message?.id }
                try await fixture.settle(claims, WebhookFixture.success)
            }
            try await fixture.advance(by: 90 * 86_400)
            let replays = WebhookReplayStore(fixture.connection)
            #expect(try await replays.count(.purchase("a"), to: fixture.endpoint.id) == 2)
            #expect(try await replays.count(.one(s[2]), to: fixture.endpoint.id) == 1)
            let range = WebhookFixture.start..<WebhookFixture.start.addingTimeInterval(1)
            #expect(try await replays.count(.time(range), to: fixture.endpoint.id) == 3)
            #expect(try await replays.count(.time(range), to: fixture.endpoint.id, most: 2) == 2)
            for (filter, admitted) in [
                (WebhookFilter(events: ["SUBSCRIBED"]), 2), (WebhookFilter(events: ["DID_RENEW", "REFUND"]), 1),
                (WebhookFilter(facts: ["status"]), 2), (WebhookFilter(bundleIds: ["com.example.other"]), 0),
                (WebhookFilter(bundleIds: ["com.example.app"], events: ["DID_RENEW"], facts: ["status"]), 0),
            ] {
                #expect(try await replays.count(.time(range, filter), to: fixture.endpoint.id) == admitted)
            }
            let count = try await replays.replay(
                .time(range), to: fixture.endpoint.id, at: fixture.clock.now, audit: WebhookFixture.audit)
            #expect(count == 3)
            await #expect(throws: WebhookReplayStore.Unfinished.self) {
                _ = try await replays.replay(
                    .one(s[2]), to: fixture.endpoint.id, at: fixture.clock.now, most: 10, audit: WebhookFixture.audit)
            }
            var sent: [Int64] = []
            while case let claims = try await fixture.claim(1), !claims.isEmpty {
                sent += claims.sequences
                #expect(claims.allSatisfy { $0.delivery?.replay == 1 })
                #expect(claims.allSatisfy { ids[$0.delivery?.sequence ?? 0] == $0.delivery?.message?.id })
                try await fixture.settle(claims, WebhookFixture.success)
            }
            #expect(sent.filter { $0 != s[2] } == [s[0], s[1]] && sent.count == 3)
        }
    }

    @Test func `Pages of the log leave out no replay of the change at which one ends`() async throws {
        try await WebhookFixture.with { fixture async throws in
            let s = try await fixture.enqueue(["a", "b"])
            let replays = WebhookReplayStore(fixture.connection)
            for _ in 0..<2 {
                _ = try await replays.replay(
                    .one(s[1]), to: fixture.endpoint.id, at: fixture.clock.now, audit: WebhookFixture.audit)
            }
            var (found, before): ([WebhookLog.Delivery], Int64?) = ([], nil)
            while case let page = try await fixture.log.deliveries(of: fixture.endpoint.id, before: before, limit: 1),
                let last = page.last
            {
                found += page
                before = last.sequence
            }
            #expect(found.map(\.sequence) == [s[1], s[1], s[1], s[0]])
            #expect(found.map(\.replay) == [2, 1, 0, 0])
        }
    }

    @Test func `Partitions of days are made ahead and dropped after 30 and 14 days`() async throws {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            let retention = WebhookRetention(connection)
            func days(_ table: String) async throws -> Int {
                let rows = try await connection.execute(
                    Statement(
                        unsafeSQL: "select count(*) as n from pg_inherits where inhparent = '\(table)'::regclass"))
                return Int(try rows[0].value("n", as: Int64.self))
            }
            let now = Date(timeIntervalSince1970: 1_700_000_000)
            _ = try await retention.run(at: now)
            #expect(try await days("webhook_delivery") == 31 + 7 + 1)
            #expect(try await retention.run(at: now) == 0)
            let dropped = try await retention.run(at: now.addingTimeInterval(20 * 86_400))
            #expect(dropped == 20 + 20)
            #expect(try await days("webhook_delivery") == 31 + 7 + 1)
            #expect(try await days("webhook_attempt") == 14 + 1 + 7 + 1)
        }
    }

    @Test func `Days of the log are made and dropped by one process at a time, and the others go on`() async throws {
        try await TestDatabase.use { database async throws in
            let (connection, other) = (TestDatabase.connection(database), TestDatabase.connection(database))
            let now = Date(timeIntervalSince1970: 1_700_000_000)
            try await other.run(
                unsafeScript: "begin; select make_webhook_days(date '2023-11-10', date '2023-11-10', date '2023-11-16')"
            )
            #expect(try await WebhookRetention(connection).run(at: now) == 0)
            try await other.run(unsafeScript: "commit")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        _ = try await WebhookRetention(TestDatabase.connection(database)).run(at: now)
                    }
                }
                try await group.waitForAll()
            }
            let made = try await connection.execute(
                Statement(
                    unsafeSQL: """
                        select count(*) as days
                        from pg_inherits
                        where inhparent = 'webhook_delivery'::regclass
                        """))
            #expect(try made[0].value("days", as: Int64.self) == 31 + 7 + 1)
        }
    }
}
