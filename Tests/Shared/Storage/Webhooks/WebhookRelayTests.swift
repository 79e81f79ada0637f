import Contracts
import Foundation
import Postgres
import TestSupport
import Testing
import WebhookDelivery

@testable import Storage

/// Endpoints of kind apple, which get Apple's notifications as Apple sent them.
@Suite struct WebhookRelayTests {
    /// A database with an endpoint of kind apple and one of changes.
    private static func with(
        filter: WebhookFilter = WebhookFilter(), _ body: (WebhookFixture, WebhookEndpoint) async throws -> Void
    ) async throws {
        try await WebhookFixture.with { fixture async throws in
            let relay = WebhookEndpoint(
                id: UUID(), environment: .production, url: "https://example.com/apple", filter: filter, kind: .apple,
                createdAt: WebhookFixture.start)
            try await fixture.store.create(relay, audit: WebhookFixture.audit)
            try await body(fixture, relay)
        }
    }

    private static func entry(
        _ type: String, purchase: String? = "1", minute: Double = 0, _ fixtures: inout Fixtures
    ) -> LedgerEntry {
        var entry = RefundRequestTests.entry(type, minute: minute, &fixtures)
        entry.originalTransactionId = purchase
        if let purchase {
            entry.event?.key.originalTransactionId = purchase
            entry.event?.transaction?.transactionId = "\(purchase)-\(minute)"
        } else {
            entry.event = nil
        }
        let uuid = entry.notificationUUID
        entry.notification.original = SignedOriginal(encoding: Array("e30.\(type)-\(uuid).c2ln".utf8))
        return entry
    }

    private static func apply(_ entries: [LedgerEntry], _ fixture: WebhookFixture) async throws {
        _ = try await LedgerStore(fixture.connection).apply(entries, moving: [], recordedAt: fixture.clock.now)
    }

    private static func uuids(_ claims: [WebhookQueueStore.Claim]) -> [UUID?] {
        claims.map { claim in
            guard case .relay(let uuid, _)? = claim.delivery?.content else { return nil }
            return uuid
        }
    }

    @Test func `Each notification is enqueued once with its stored bytes, and an endpoint of changes gets none`()
        async throws
    {
        try await Self.with { fixture, relay async throws in
            #expect(try await fixture.store.find(relay.id)?.endpoint.state == .active)
            #expect(try await fixture.store.find(relay.id)?.health.testRequestedAt == nil)
            var fixtures = Fixtures(seed: 11)
            let bought = Self.entry("SUBSCRIBED", &fixtures)
            let test = Self.entry("TEST", purchase: nil, minute: 1, &fixtures)
            let parts = SignedPart.allCases.map { Self.entry($0.rawValue, minute: 2, &fixtures) }
            let version1 = Self.entry("V1", purchase: nil, minute: 3, &fixtures)
            var sandbox = Self.entry("TEST", purchase: nil, minute: 4, &fixtures)
            sandbox.notification.environment = .sandbox
            try await Self.apply([bought, test, version1, sandbox] + parts, fixture)
            try await Self.apply([bought], fixture)
            #expect(try await fixture.claim().isEmpty)
            let claims = try await fixture.claim(of: relay).sorted {
                $0.place.originalTransactionId > $1.place.originalTransactionId
            }
            #expect(Self.uuids(claims) == [bought.notificationUUID, test.notificationUUID])
            let expected = try [bought, test].map { entry in
                WebhookQueueStore.Content.relay(entry.notificationUUID, signedPayload: try entry.signedPayload)
            }
            #expect(claims.compactMap(\.delivery?.content) == expected)
            #expect(claims.allSatisfy { ($0.delivery?.sequence ?? 0) >= WebhookQueueStore.firstRelay })
            try await fixture.settle(claims, WebhookFixture.success)
            #expect(try await fixture.claim(of: relay).isEmpty)
            let log = try await fixture.log.deliveries(of: relay.id, limit: 9)
            #expect(log.map(\.event) == ["TEST", "SUBSCRIBED"] && log.allSatisfy { $0.state == .delivered })
            #expect(log.map(\.id) == [test, bought].map { $0.notificationUUID.uuidString.lowercased() })
            // The timeline is not enqueued for it.
            let rows = try await TimelineStore(fixture.connection).newest(9).map(\.id)
            _ = try await fixture.queue.enqueue(rows, moving: [], at: fixture.clock.now)
            #expect(try await fixture.claim(of: relay).isEmpty)
            #expect(try await fixture.claim().count == 1)
        }
    }

    @Test func `A filter admits apps and Apple's types, and notifications of a purchase wait for one another`()
        async throws
    {
        let filter = WebhookFilter(bundleIds: ["com.example.app"], events: ["DID_RENEW", "EXPIRED/VOLUNTARY"])
        try await Self.with(filter: filter) { fixture, relay async throws in
            var fixtures = Fixtures(seed: 12)
            var expired = Self.entry("EXPIRED", minute: 3, &fixtures)
            expired.subtype = "VOLUNTARY"
            let renewals = [2.0, 1].map { Self.entry("DID_RENEW", minute: $0, &fixtures) }
            var other = Self.entry("DID_RENEW", minute: 4, &fixtures)
            other.event?.bundleId = "com.example.other"
            other.bundleId = "com.example.other"
            try await Self.apply(renewals + [Self.entry("REFUND", minute: 2.5, &fixtures), other, expired], fixture)
            // The order is that of Apple's clock within a batch, over retries too.
            var sent: [UUID?] = []
            for outcome in [WebhookFixture.failure, WebhookFixture.success] {
                let claims = try await fixture.claim(of: relay)
                sent += Self.uuids(claims)
                try await fixture.settle(claims, outcome)
                try await fixture.advance(by: 6)
            }
            while case let claims = try await fixture.claim(of: relay), !claims.isEmpty {
                sent += Self.uuids(claims)
                try await fixture.settle(claims, WebhookFixture.success)
            }
            let expected = [renewals[1], renewals[1], renewals[0], expired].map { $0.notificationUUID as UUID? }
            #expect(sent == expected)
        }
    }

    @Test func `What is erased while it waits is given up without a request, and the purchase goes on`() async throws {
        try await Self.with { fixture, relay async throws in
            var fixtures = Fixtures(seed: 13)
            let entries = [0.0, 1].map { Self.entry("DID_RENEW", minute: $0, &fixtures) }
            try await Self.apply(entries, fixture)
            _ = try await fixture.connection.execute(
                Statement(unsafeSQL: "delete from notification_payload where notification_uuid = $1::uuid"),
                entries[0].notificationUUID)
            let claims = try await fixture.claim(of: relay)
            #expect(claims.map(\.delivery?.content) == [.relay(entries[0].notificationUUID, signedPayload: nil)])
            try await fixture.settle(claims, .erased)
            #expect(try await fixture.store.find(relay.id)?.health.failures == 0)
            #expect(try await Self.uuids(fixture.claim(of: relay)) == [entries[1].notificationUUID])
            let log = try await fixture.log.deliveries(of: relay.id, in: .givenUp, limit: 9)
            #expect(log.map(\.notificationUUID) == [entries[0].notificationUUID])
        }
    }

    @Test func `A notification whose stored bytes are damaged is given up with the reason, and the others are sent`()
        async throws
    {
        try await Self.with { fixture, relay async throws in
            var fixtures = Fixtures(seed: 16)
            let entries = ["1", "2"].map { Self.entry("DID_RENEW", purchase: $0, &fixtures) }
            try await Self.apply(entries, fixture)
            _ = try await fixture.connection.execute(
                Statement(
                    unsafeSQL:
                        "update notification_payload set signed_original = '\\x07' where notification_uuid = $1::uuid"),
                entries[0].notificationUUID)
            let claims = try await fixture.claim(of: relay).sorted {
                $0.place.originalTransactionId < $1.place.originalTransactionId
            }
            let fault = "the stored original has an unknown format; use a newer build"
            let signed = try entries[1].signedPayload
            #expect(
                claims.map(\.delivery?.content) == [
                    .unreadable(entries[0].notificationUUID, fault: fault),
                    .relay(entries[1].notificationUUID, signedPayload: signed),
                ])
            try await fixture.settle(Array(claims.prefix(1)), .unreadable(fault: fault))
            try await fixture.settle(Array(claims.suffix(1)), WebhookFixture.success)
            let log = try await fixture.log.deliveries(of: relay.id, limit: 9)
            #expect(Set(log.map(\.state)) == [.givenUp, .delivered])
            let attempts = try await fixture.log.attempts(of: relay.id, at: claims.sequences)
            #expect(attempts.map(\.fault) == ["the stored notification cannot be read: \(fault)"])
            #expect(try await fixture.store.find(relay.id)?.health.failures == 0)
            #expect(try await fixture.claim(of: relay).isEmpty)
        }
    }

    @Test func `The ledger waits for nothing that a replay holds`() async throws {
        try await Self.with { fixture, relay async throws in
            var fixtures = Fixtures(seed: 17)
            let entries = [0.0, 1].map { Self.entry("DID_RENEW", minute: $0, &fixtures) }
            try await Self.apply([entries[0]], fixture)
            _ = try await fixture.settle(fixture.claim(of: relay), WebhookFixture.success)
            // More than a replay locks.
            let holder = TestDatabase.connection(fixture.database)
            try await holder.run(
                unsafeScript: "begin; lock table webhook_queue, webhook_delivery in access exclusive mode")
            try await Self.apply([entries[1]], fixture)
            try await holder.run(unsafeScript: "rollback")
            await holder.close()
            #expect(try await Self.uuids(fixture.claim(of: relay)) == [entries[1].notificationUUID])
        }
    }

    @Test
    func `Notifications that have arrived are enqueued once, by one process at a time, and none that are too old`()
        async throws
    {
        try await Self.with { fixture, relay async throws in
            var fixtures = Fixtures(seed: 18)
            let entry = Self.entry("DID_RENEW", &fixtures)
            try await Self.apply([entry], fixture)
            let holder = TestDatabase.connection(fixture.database)
            try await holder.run(
                unsafeScript: """
                    begin;
                    select pg_advisory_xact_lock(hashtextextended(current_schema() || ' webhook arrivals', 0))
                    """)
            #expect(try await fixture.queue.takeArrivals(at: fixture.clock.now) == 0)
            try await holder.run(unsafeScript: "rollback")
            #expect(try await fixture.queue.takeArrivals(at: fixture.clock.now) == 1)
            #expect(try await fixture.queue.takeArrivals(at: fixture.clock.now) == 0)
            #expect(try await fixture.claim(of: relay).count == 1)
            try await Self.apply([Self.entry("DID_RENEW", minute: 1, &fixtures)], fixture)
            // A replay holds the place of the purchase: sending does not wait for it.
            try await holder.run(unsafeScript: "begin; select from webhook_queue for update")
            #expect(try await fixture.queue.takeArrivals(at: fixture.clock.now) == 0)
            try await holder.run(unsafeScript: "rollback")
            await holder.close()
            let late = fixture.clock.now.addingTimeInterval(30 * 86_400 + 1)
            #expect(try await fixture.queue.takeArrivals(at: late) == 1)
            #expect(try await fixture.log.deliveries(of: relay.id, limit: 9).count == 1)
        }
    }

    @Test func `Notifications are replayed by number, purchase and time, of any age, as the filter admits them`()
        async throws
    {
        try await Self.with(filter: WebhookFilter(events: ["DID_RENEW"])) { fixture, relay async throws in
            var fixtures = Fixtures(seed: 14)
            let old = Self.entry("DID_RENEW", purchase: "2", &fixtures)
            _ = try await LedgerStore(fixture.connection).apply(
                [old], moving: [], recordedAt: WebhookFixture.start.addingTimeInterval(-86_400))
            #expect(try await fixture.claim(of: relay).isEmpty)
            let new = Self.entry("DID_RENEW", minute: 1, &fixtures)
            try await Self.apply([new, Self.entry("REFUND", minute: 2, &fixtures)], fixture)
            let first = try await fixture.claim(of: relay)
            try await fixture.settle(first, WebhookFixture.success)
            let number = try #require(first.sequences.first)
            let store = WebhookReplayStore(fixture.connection)
            let selections: [(WebhookReplayStore.Selection, UUID)] = [
                (.one(number), new.notificationUUID), (.purchase("1"), new.notificationUUID),
                (
                    .time(WebhookFixture.start.addingTimeInterval(-90_000)..<WebhookFixture.start),
                    old.notificationUUID
                ),
            ]
            let all = Date.distantPast..<WebhookFixture.start.addingTimeInterval(90_000)
            for (filter, admitted) in [
                (WebhookFilter(), 2), (WebhookFilter(events: ["DID_RENEW"]), 2), (WebhookFilter(events: ["REFUND"]), 0),
                (WebhookFilter(bundleIds: ["com.example.other"]), 0),
            ] {
                #expect(try await store.count(.time(all, filter), to: relay.id, .apple) == admitted)
            }
            for (selection, uuid) in selections {
                #expect(try await store.count(selection, to: relay.id, .apple) == 1)
                #expect(try await store.count(selection, to: fixture.endpoint.id, .apple) == 0)
                let count = try await store.replay(
                    selection, to: relay.id, .apple, at: fixture.clock.now, audit: WebhookFixture.audit)
                let claims = try await fixture.claim(of: relay)
                #expect(count == 1 && Self.uuids(claims) == [uuid] && claims[0].delivery?.replay ?? 0 > 0)
                try await fixture.settle(claims, WebhookFixture.success)
            }
        }
    }

    @Test
    func `Another endpoint that is disabled is told to endpoints of changes alone, and a resumed relay is not tested`()
        async throws
    {
        try await Self.with { fixture, relay async throws in
            var fixtures = Fixtures(seed: 15)
            try await Self.apply([Self.entry("DID_RENEW", &fixtures)], fixture)
            _ = try await fixture.settle(fixture.claim(of: relay), .gone)
            #expect(try await fixture.store.find(relay.id)?.endpoint.state == .disabled)
            #expect(try await fixture.health().notice?.about == relay.id)
            #expect(
                try await fixture.store.resume(
                    relay.id, fromNow: false, at: fixture.clock.now, audit: WebhookFixture.audit))
            let resumed = try #require(try await fixture.store.find(relay.id))
            #expect(resumed.endpoint.state == .active && resumed.health.testRequestedAt == nil)
            #expect(try await fixture.claim(of: relay).count == 1)
            #expect(try await fixture.store.waiting()[relay.id]?.oldest == WebhookFixture.start)
            let changed = try await fixture.enqueue(["7"])
            #expect(!changed.isEmpty)
            _ = try await fixture.settle(fixture.claim(), .gone)
            #expect(try await fixture.store.find(relay.id)?.health.notice == nil)
        }
    }
}
