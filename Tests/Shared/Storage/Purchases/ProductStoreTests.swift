import Contracts
import Foundation
import Postgres
import Records
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Durations of non-renewing products end access, also of earlier purchases (L11).
@Suite(.serialized) struct ProductStoreTests {
    static let app = "com.example.app"
    static let bought = Fixtures.epoch

    /// A pass was bought.
    static func pass(_ id: String, offset: Int64, product: String = "pass", app: String = app) -> LedgerEntry {
        let uuid = UUID()
        let version = EventVersion(signedDate: bought, notificationUUID: uuid)
        let event = PurchaseEvent(
            key: SubscriptionKey(environment: .production, originalTransactionId: id), version: version, bundleId: app,
            notificationType: "ONE_TIME_CHARGE", subtype: nil, status: nil,
            transaction: TransactionFacts(
                transactionId: id, productId: product, productType: "Non-Renewing Subscription",
                subscriptionGroupIdentifier: nil, purchaseDate: bought, expiresDate: nil, signedDate: bought),
            renewal: nil)
        return LedgerEntry(
            notificationUUID: uuid, notificationType: "ONE_TIME_CHARGE", subtype: nil, environment: .production,
            bundleId: app, appAppleId: 1, originalTransactionId: id, transactionId: id, signedDate: bought,
            receivedAt: bought, source: .webhook, decodedPayload: "{}", signedPayload: [1], event: event,
            position: LogPosition(topic: Topics.unique.name, partition: 0, offset: offset))
    }

    static func buy(_ passes: [LedgerEntry], _ connection: PostgresConnection) async throws {
        _ = try await LedgerStore(connection).apply(passes, moving: [], recordedAt: Fixtures.now)
    }

    static func ends(_ connection: PostgresConnection) async throws -> [String: Date?] {
        try await connection.execute(
            unsafeSQL: "select original_transaction_id, upper(period) as ends_at from access_period"
        ).reduce(into: [:]) { ends, row in
            ends[try row.value("original_transaction_id")] = .some(try row.optional("ends_at"))
        }
    }

    static let week = Fixtures.epoch.addingTimeInterval(7 * 86_400)

    @Test func `ProductStore ends by a duration the access of later purchases and, in batches, of earlier ones`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let products = ProductStore(connection)
            try await Self.buy((1...5).map { Self.pass("\($0)", offset: $0) }, connection)
            try await Self.buy([Self.pass("6", offset: 6, app: "com.example.other")], connection)
            #expect(try await Self.ends(connection).values.allSatisfy { $0 == nil })
            #expect(
                try await products.durations(ofApp: Self.app) == [
                    .init(bundleId: Self.app, productId: "pass", duration: nil, endless: 5, waiting: 0)
                ])
            try await products.setDurations(["pass": ProductDuration("P1W")], ofApp: Self.app)
            try await Self.buy([Self.pass("7", offset: 7)], connection)
            #expect(try await Self.ends(connection)["7"] == Self.week)
            #expect(try await products.durations(ofApp: Self.app).first?.waiting == 6)

            let first = try await AccessRecalculation(connection).next(limit: 2, at: Fixtures.now)
            #expect(first == .init(bundleId: Self.app, productId: "pass", purchases: 2, changed: 2))
            #expect(try await products.durations(ofApp: Self.app).first?.waiting == 4)
            #expect(try await Self.ends(connection).values.filter { $0 == Self.week }.count == 3)

            // Another process continues where the first one stopped.
            try await Self.finish(AccessRecalculation(connection))
            let ends = try await Self.ends(connection)
            #expect(ends.filter { $0.key != "6" }.values.allSatisfy { $0 == Self.week })
            #expect(ends["6"] == .some(nil))
            #expect(
                try await products.durations(ofApp: Self.app) == [
                    .init(bundleId: Self.app, productId: "pass", duration: "P1W", endless: 0, waiting: 0)
                ])
            let command = EntitlementStore.command(purchases: ["1", "6"], in: .production, at: Fixtures.now)
            let states = try EntitlementStore.states(try await connection.pipeline([command])[0], at: Fixtures.now)
            #expect(states == ["1": .expired, "6": .active])
            let changes = try await OutboxStore(connection).changes().map(\.message)
            let rows = changes.filter { $0.event == TimelineRow.productDurationSet }
            #expect(rows.map(\.originalTransactionId).sorted() == ["1", "2", "3", "4", "5"])
            #expect(rows.allSatisfy { $0.revision == 2 && !$0.state.hasAccess && $0.changes.first?.to == "none" })
            #expect(Set(changes.map(\.notificationUUID)).count == changes.count)
        }
    }

    @Test
    func
        `ProductStore leaves access without an end where a duration is removed, and setting one twice changes nothing`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let products = ProductStore(connection)
            try await products.setLevels(["pass": 1], ofApp: Self.app)
            try await Self.buy([Self.pass("1", offset: 1)], connection)
            try await products.setDurations(["pass": ProductDuration("P1W")], ofApp: Self.app)
            try await Self.finish(AccessRecalculation(connection))
            try await products.setDurations(["pass": ProductDuration("P1W")], ofApp: Self.app)
            #expect(try await AccessRecalculation(connection).next(at: Fixtures.now) == nil)
            try await products.setDurations(["pass": nil], ofApp: Self.app)
            try await Self.finish(AccessRecalculation(connection))
            #expect(try await Self.ends(connection) == ["1": nil])
            #expect(try await products.durations(ofApp: Self.app).first?.endless == 1)
            #expect(try await products.levels(ofApp: Self.app) == ["pass": 1])
        }
    }

    @Test func `Setting a duration waits for a batch that uses the old one`() async throws {
        try await LedgerStoreTests.use { connection, database async throws in
            let setter = ProductStore(TestDatabase.connection(database))
            let setting = try await connection.transaction { batch in
                _ = try batch.execute(ProductStore.configured)
                let setting = Task { try await setter.setDurations(["pass": ProductDuration("P1W")], ofApp: Self.app) }
                let waiting = Statement(
                    unsafeSQL: "select pid from pg_locks where relation = 'product'::regclass and not granted")
                var looks = 0
                while try batch.execute(waiting).isEmpty, looks < 100_000 { looks += 1 }
                #expect(looks < 100_000, "setting the duration did not wait")
                return setting
            }
            _ = try await setting.value
            #expect(try await ProductStore(connection).durations().first?.duration == "P1W")
        }
    }

    @Test func `A duration that is set already locks out no batch and no reader`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            func locks(setting duration: String) async throws -> [String] {
                let command = ProductStore.command(
                    setting: ["pass": ProductDuration(duration), "other": nil], ofApp: Self.app)
                return try await connection.transaction { transaction in
                    _ = try transaction.pipeline([command])
                    let held = Statement(
                        unsafeSQL: """
                            select mode
                            from pg_locks
                            where pid = pg_backend_pid() and relation = 'product'::regclass
                            """)
                    return try transaction.execute(held).map { row in try row.value("mode") }
                }
            }
            #expect(try await locks(setting: "P1W").contains("AccessExclusiveLock"))
            #expect(try await locks(setting: "P1W") == ["AccessShareLock"])
        }
    }

    static func finish(_ recalculation: AccessRecalculation) async throws {
        while try await recalculation.next(limit: 2, at: Fixtures.now) != nil {}
    }
}
