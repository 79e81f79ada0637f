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
            // Some batches are so large that they lock all Apple accounts.
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
