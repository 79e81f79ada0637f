import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Many connections change what decides who may use the purchases of few Apple accounts, at the same time.
@Suite(.serialized) struct OwnershipRaceTests {
    private static let app = CustomerStoreTests.app
    private static let scope = CoverageStore.App(.production, app)
    private static let customers = ["70", "71", "72"]

    /// The advisory locks that a transaction has, by their keys: whether each is exclusive.
    private static func held(
        _ connection: PostgresConnection, _ counts: (app: CoverageStore.App, purchases: Int)...
    ) async throws -> [Int64: Bool] {
        let locks = counts.reduce(into: OwnershipChange()) { change, one in
            change.formUnion(OwnershipChange((0..<one.purchases).map { "\($0)" }, of: one.app))
        }.locks
        return try await connection.transaction { transaction in
            _ = try transaction.pipeline(OwnershipLock.commands(locks))
            let rows = try transaction.execute(
                Statement(
                    unsafeSQL: """
                        select classid::bigint << 32 | objid::bigint as id, mode = 'ExclusiveLock' as is_exclusive
                        from pg_locks
                        where locktype = 'advisory' and pid = pg_backend_pid()
                        """))
            return try rows.reduce(into: [:]) { held, row in
                let id = try row.value("id", as: Int64.self)
                held[id] = try row.value("is_exclusive", as: Bool.self)
            }
        }
    }

    @Test func `A large change locks one app in one environment, and no other waits for it`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            let sandbox = CoverageStore.App(.sandbox, Self.app)
            let large = try await Self.held(connection, (sandbox, 101))
            #expect(large.count == 1 && large.values.allSatisfy(\.self))
            // The same app shares the lock; it is free for another environment and another app.
            let small = try await Self.held(connection, (sandbox, 1))
            #expect(small.count == 2 && small.contains { large[$0.key] != nil && !$0.value })
            for app in [Self.scope, CoverageStore.App(.sandbox, "com.example.other")] {
                let other = try await Self.held(connection, (app, 1))
                #expect(other.count == 2 && other.keys.allSatisfy { large[$0] == nil })
            }
            // Of several apps, the one with the most names is locked wholly.
            let both = try await Self.held(connection, (sandbox, 99), (Self.scope, 20))
            #expect(both.count == 22 && large.keys.allSatisfy { both[$0] == true })
        }
    }

    /// One thing that one connection does.
    private static func act(
        _ connection: PostgresConnection, _ generator: inout SeededGenerator, _ fixtures: inout Fixtures
    ) async throws {
        let token = CustomerStoreTests.tokens.randomElement(using: &generator) ?? ""
        let id = "\(Int.random(in: 0..<8, using: &generator))"
        let customer = customers.randomElement(using: &generator)
        let account = try #require(UUID(uuidString: token))
        let key = SubscriptionKey(environment: .production, originalTransactionId: id)
        let entry = CustomerStoreTests.purchase(
            id, of: Bool.random(using: &generator) ? token : nil, by: Bool.random(using: &generator) ? customer : nil,
            day: .random(in: 0..<20, using: &generator), &fixtures)
        switch Int.random(in: 0..<20, using: &generator) {
        case 0..<8:
            // Some batches are so large that they lock all Apple accounts of the app.
            let more = (0..<Int.random(in: 0...1, using: &generator) * 70).map { number in
                CustomerStoreTests.purchase(
                    "\(id)-\(number)", of: token, by: number == 0 ? customer : "7\(id)-\(number)", day: 1, &fixtures)
            }
            _ = try await LedgerStore(connection).apply([entry] + more, moving: [], recordedAt: Fixtures.now)
        case 8..<13:
            _ = try await StatePreviewStore(connection).record(
                [entry], in: scope, account: account,
                claiming: UploadClaim(
                    appAccountToken: account, uploadedAt: Fixtures.now, includesOwned: true, evidence: [id: .signed]),
                at: Fixtures.now
            ) { _ in [] }
        case 13..<16:
            try await CustomerStore(connection).add([
                AccountClaim(
                    key: key, bundleId: app, appTransactionId: customer, appAccountToken: token, evidence: .operator,
                    since: Fixtures.now)
            ])
        case 16:
            try await SharingStore(connection).choose(token, of: app, in: .production, at: Fixtures.now)
        case 17:
            _ = try await SharingStore(connection).unchoose(token, of: app, in: .production, at: Fixtures.now)
        case 18:
            let policy = SharingPolicy.allCases.randomElement(using: &generator) ?? .standard
            try await SharingStore(connection).setPolicy(policy, of: app, in: .production, at: Fixtures.now)
        default:
            let erased = try #require(UUID(uuidString: CustomerStoreTests.tokens[4]))
            _ = try await ErasureStore(connection).forget(
                erased, of: app, in: .production, extent: .detach, id: UUID(), at: Fixtures.now)
        }
    }

    @Test(.hangLimit) func `Fifty connections at once leave the rows of the decision about all that they changed`()
        async throws
    {
        try await LedgerStoreTests.use { connection, database async throws in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<50 {
                    group.addTask {
                        let connection = TestDatabase.connection(database)
                        var generator = SeededGenerator(state: UInt64(number))
                        var fixtures = Fixtures(seed: 2000 + UInt64(number))
                        for _ in 0..<6 {
                            do {
                                try await Self.act(connection, &generator, &fixtures)
                            } catch let error as PostgresError
                                where error.sqlState == ErasureStore.rejectedState || error.isTransient
                            {
                                // The account is erased, or the change waited too long for those before it, and was undone.
                                continue
                            }
                        }
                        await connection.close()
                    }
                }
                try await group.waitForAll()
            }
            try await OwnershipStoreTests.expectDecided(connection)
            #expect(try await OwnershipStoreTests.rows(connection).held.count > 20)
        }
    }
}
