import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// What the database answers about the past, about migrated purchases, and about payloads that contradict themselves.
@Suite(.serialized) struct AccessHistoryTests {
    static let account = UUID(uuidString: "7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b") ?? .zero
    static let app = "com.example.app"

    static func day(_ number: Double) -> Date { Fixtures.epoch.addingTimeInterval(number * 86_400) }

    static func period(
        _ id: String, _ from: Double, _ to: Double, signed: Double, reason: String = "PURCHASE", previous: String? = nil
    ) -> TransactionFacts {
        TransactionFacts(
            transactionId: id, productId: "gold", productType: "Auto-Renewable Subscription",
            subscriptionGroupIdentifier: "metals", purchaseDate: day(from), expiresDate: day(to),
            appAccountToken: account.uuidString.lowercased(), signedDate: day(signed), reason: reason,
            previousOriginalTransactionId: previous)
    }

    static func renewal(_ date: Double, signed: Double, grace: Double? = nil) -> RenewalFacts {
        RenewalFacts(
            gracePeriodExpiresDate: grace.map(day), renewalDate: day(date), signedDate: day(signed), productId: "gold")
    }

    static func entry(
        _ name: String, _ signed: Double, _ status: Int?, _ transaction: TransactionFacts?,
        _ renewal: RenewalFacts? = nil, purchase: String = "1"
    ) -> LedgerEntry {
        var fixtures = Fixtures(seed: UInt64(signed * 1000) &+ purchase.utf8.reduce(0) { $0 &* 31 &+ UInt64($1) })
        var entry = fixtures.entry()
        let parts = name.split(separator: "/").map(String.init)
        entry.event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: purchase),
            version: EventVersion(signedDate: day(signed), notificationUUID: entry.notificationUUID), bundleId: app,
            notificationType: parts[0], subtype: parts.count > 1 ? parts[1] : nil, status: status,
            transaction: transaction, renewal: renewal)
        return entry
    }

    /// Applies the entries one by one.
    static func use(_ entries: [LedgerEntry], _ body: (PostgresConnection) async throws -> Void) async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            for (index, entry) in entries.enumerated() {
                _ = try await LedgerStore(connection).apply(
                    [entry], moving: [Fixtures.move(Int64(index), Int64(index) + 1)], recordedAt: day(200))
            }
            try await body(connection)
        }
    }

    static func access(_ connection: PostgresConnection, on number: Double) async throws -> [String] {
        try await AccessStore(connection).access(
            ofAccount: account.uuidString, of: app, in: .production, at: day(number))?.map {
                "\($0.key.originalTransactionId) \($0.reason)"
            } ?? []
    }

    static let bought = entry("SUBSCRIBED/INITIAL_BUY", 0, 1, period("1", 0, 30, signed: 0), renewal(30, signed: 0))
    static let failed = entry(
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, period("1", 0, 30, signed: 30), renewal(30, signed: 30, grace: 46))
    static let over = entry("GRACE_PERIOD_EXPIRED", 46, 3, period("1", 0, 30, signed: 46), renewal(30, signed: 46))

    @Test(arguments: [[bought, failed, over], [over, failed, bought], [failed, over, bought]])
    func `A grace period that is over is one in SQL, in every order of arrival`(entries: [LedgerEntry]) async throws {
        try await Self.use(entries) { connection async throws in
            #expect(try await Self.access(connection, on: 29) == ["1 transaction"])
            #expect(try await Self.access(connection, on: 31) == ["1 gracePeriod"])
            #expect(try await Self.access(connection, on: 46) == [])
        }
    }

    @Test func `until is the first moment at which a purchase no longer gives the product, whatever the reasons`()
        async throws
    {
        let late = Self.entry(
            "DID_RENEW/BILLING_RECOVERY", 50, 1, Self.period("2", 50, 80, signed: 50, reason: "RENEWAL"),
            Self.renewal(80, signed: 50))
        try await Self.use([Self.bought, Self.failed, late]) { connection async throws in
            let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
            let periods = try await AccessStore(connection).periods(of: key)
            #expect(periods.map(\.endsAt) == [Self.day(30), Self.day(46), Self.day(80)])
            #expect(periods.map(\.until) == [Self.day(46), Self.day(46), Self.day(80)])
            let lines = try EntitlementStore.lines(
                try await connection.pipeline([
                    EntitlementStore.command(of: [Self.account], in: .production, bundleIds: nil, from: Self.day(1))
                ])[0])
            let access = AccountAccess(
                of: Self.account, in: .production, lines: lines, definitions: EntitlementDefinitions(), at: Self.day(1))
            #expect(access.entitlements.map(\.line.until) == [Self.day(46)])
            #expect(access.changesAt == Self.day(30))
        }
    }

    @Test func `Swift and SQL round a moment at an exact boundary alike`() async throws {
        try await Self.use([Self.bought]) { connection async throws in
            for moment in [Self.day(30), Self.day(0)].flatMap({
                [-0.0004, -1e-7, 0, 1e-7, 0.0004].map($0.addingTimeInterval)
            }) {
                let results = try await connection.pipeline([
                    EntitlementStore.command(of: [Self.account], in: .production, bundleIds: nil, from: moment),
                    EntitlementStore.command(purchases: ["1"], in: .production, at: moment),
                ])
                let access = AccountAccess(
                    of: Self.account, in: .production, lines: try EntitlementStore.lines(results[0]),
                    definitions: EntitlementDefinitions(), at: moment)
                let states = try EntitlementStore.states(results[1], at: moment)
                let reasons = access.withheld.map { WithheldReason(states[$0.id], $0.because) }
                #expect(!reasons.contains(.otherAccount), "\(moment.timeIntervalSince1970)")
                #expect(access.entitlements.isEmpty == (moment.atMilliseconds == Self.day(30)))
            }
        }
    }

    private static let old = entry(
        "SUBSCRIBED/INITIAL_BUY", 0, 1, period("1", 0, 30, signed: 0), renewal(30, signed: 0), purchase: "1")
    private static let migrated = entry(
        "MIGRATION", 10, 1, period("2", 10, 40, signed: 10, previous: "1"), renewal(40, signed: 10), purchase: "2")

    @Test(arguments: [[old, migrated], [migrated, old]])
    func `A migration replaces the purchase that it names, in any order of arrival`(entries: [LedgerEntry]) async throws
    {
        try await Self.use(entries) { connection async throws in
            #expect(try await Self.access(connection, on: 9) == ["1 transaction"])
            #expect(try await Self.access(connection, on: 11) == ["2 transaction"])
        }
        try await LedgerStoreTests.use { connection, _ async throws in
            _ = try await LedgerStore(connection).apply(
                entries, moving: [Fixtures.move(0, 2)], recordedAt: Self.day(20))
            #expect(try await Self.access(connection, on: 9) == ["1 transaction"])
            #expect(try await Self.access(connection, on: 11) == ["2 transaction"])
        }
    }

    static let early = entry("EXPIRED/VOLUNTARY", 5, 2, period("1", 0, 30, signed: 5), renewal(30, signed: 5))
    static let bare = entry("CONSUMPTION_REQUEST", 40, 1, period("1", 0, 30, signed: 40))

    @Test(arguments: [early, bare])
    func `A status that the transactions do not explain makes recovery ask Apple, and only so long`(
        entry: LedgerEntry
    ) async throws {
        let signed = entry.event?.version.signedDate ?? Fixtures.epoch
        let sinceDay = signed.timeIntervalSince(Fixtures.epoch) / 86_400 + 1
        let again = Self.entry(
            "DID_RENEW", sinceDay, 1, Self.period("9", sinceDay, sinceDay + 30, signed: sinceDay, reason: "RENEWAL"),
            Self.renewal(sinceDay + 30, signed: sinceDay))
        let key = SubscriptionKey(environment: .production, originalTransactionId: "1")
        try await Self.use([Self.bought, entry]) { connection async throws in
            let gaps = LifecycleGapStore(connection)
            #expect(
                try await gaps.gaps(of: key).filter { $0.kind == .transaction }.map(\.before) == [
                    entry.notificationUUID
                ])
            let asked = try await connection.execute(
                unsafeSQL: "select before_uuid from recovery_request where reason like '%transaction%'")
            #expect(try asked.map { row in try row.value("before_uuid", as: UUID.self) } == [entry.notificationUUID])
            _ = try await LedgerStore(connection).apply(
                [again], moving: [Fixtures.move(2, 3)], recordedAt: Self.day(200))
            #expect(try await gaps.gaps(of: key).filter { $0.kind == .transaction }.isEmpty)
        }
    }
}
