import Contracts
import Foundation
import Postgres
import Refunds
import TestSupport
import Testing

@testable import Storage

/// Consumables are credited once, and taken back by refunds.
@Suite(.hangLimit) struct CreditStoreTests {
    private static let app = RefundFixture.app

    private static func credit(
        _ transaction: String, to account: UUID? = nil, among bundleIds: [String]? = nil, _ fixture: RefundFixture
    ) async throws -> CreditStore.Outcome {
        try await CreditStore(fixture.connection).credit(
            transaction, in: .production, to: account, among: bundleIds, by: "key", at: RefundFixture.at(1))
    }

    private static func balances(_ fixture: RefundFixture) async throws -> [String] {
        try await CreditStore(fixture.connection).balances(
            of: RefundFixture.account, in: .production, bundleIds: [app]
        ).map { "\($0.unit) \($0.credits): \($0.credited) - \($0.takenBack) = \($0.balance)" }
    }

    @Test func `A transaction is credited once by many requests, its quantity times what the product gives`()
        async throws
    {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await ProductStore(fixture.connection).setCredits(
                [.init(productId: "coins", amount: 100, unit: "coin")], removing: [], ofApp: Self.app)
            try await fixture.apply("ONE_TIME_CHARGE", minute: 1, transaction: "2", purchase: "2") { entry in
                entry.event?.transaction?.quantity = 3
            }
            let database = fixture.database
            let firsts = try await withThrowingTaskGroup(of: Bool?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        let connection = TestDatabase.connection(database)
                        let outcome = try await CreditStore(connection).credit(
                            "2", in: .production, to: nil, among: nil, by: "key", at: RefundFixture.at(1))
                        await connection.close()
                        guard case .credited(let credit, let isNew) = outcome, credit.amount == 300 else { return nil }
                        return isNew
                    }
                }
                var firsts: [Bool?] = []
                for try await isFirst in group { firsts.append(isFirst) }
                return firsts
            }
            let message = try #require(try await TimelineStore(fixture.connection).newest(1).first).message
            #expect(message.transaction?.quantity == 3)
            #expect(try SubscriptionChanged(message.record()).transaction?.quantity == 3)
            #expect(firsts.count { $0 == true } == 1 && firsts.count { $0 == false } == 7)
            _ = try await Self.credit("1", fixture)
            // A later setting changes no credit.
            try await ProductStore(fixture.connection).setCredits([], removing: ["coins"], ofApp: Self.app)
            #expect(try await ProductStore(fixture.connection).credits(ofApp: Self.app).isEmpty)
            #expect(try await Self.balances(fixture) == ["coin 2: 400 - 0 = 400"])
            try await fixture.apply("ONE_TIME_CHARGE", minute: 2, transaction: "3", purchase: "3")
            _ = try await Self.credit("3", fixture)
            #expect(try await Self.balances(fixture) == ["coin 2: 400 - 0 = 400", "coins 1: 1 - 0 = 1"])
        }
    }

    @Test func `Credits of some transactions are looked up among many before the tables are analyzed`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            _ = try await Self.credit("1", fixture)
            try await fixture.connection.run(
                unsafeScript: """
                    insert into transaction (
                        signed_at, event_at, notification_uuid, environment, is_upgraded, transaction_id,
                        original_transaction_id, bundle_id, product_id, product_type)
                    select now(), now(), gen_random_uuid(), 'Production', false, 'many ' || number, 'many ' || number,
                        '\(Self.app)', 'coins', 'Consumable'
                    from generate_series(1, 3000) as number
                    """)
            let store = CreditStore(fixture.connection)
            let before = try await LedgerCostTests.counters(fixture.connection).read
            let credits = try await store.credits(of: ["1", "many 2", "none"], in: .production)
            #expect(credits.map(\.transactionId) == ["1"])
            #expect(try await LedgerCostTests.counters(fixture.connection).read - before < 20)
        }
    }

    @Test func `A refund takes back what it refunds, and gives it again where Apple reverses it`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await ProductStore(fixture.connection).setCredits(
                [.init(productId: "coins", amount: 100, unit: "coin")], removing: [], ofApp: Self.app)
            _ = try await Self.credit("1", fixture)
            func tell(_ type: String, _ minute: Double, refunded percentage: Int64?) async throws {
                try await fixture.apply(type, minute: minute) { entry in
                    entry.event?.transaction?.signedDate = RefundFixture.at(minute)
                    guard let percentage else { return }
                    entry.event?.transaction?.revocationDate = RefundFixture.at(minute)
                    entry.event?.transaction?.revocationPercentage = percentage
                }
            }
            try await tell("REFUND", 3, refunded: 100_000)
            #expect(try await Self.balances(fixture) == ["coin 1: 100 - 100 = 0"])
            try await tell("REFUND_REVERSED", 4, refunded: nil)
            #expect(try await Self.balances(fixture) == ["coin 1: 100 - 0 = 100"])
            // Rounded in the customer's favour.
            try await tell("REFUND", 5, refunded: 33_999)
            #expect(try await Self.balances(fixture) == ["coin 1: 100 - 33 = 67"])
            guard case .credited(let credit, isNew: false) = try await Self.credit("1", fixture) else {
                Issue.record("credited twice")
                return
            }
            #expect(credit.revokedAt == RefundFixture.at(5) && credit.takenBack == 33)
        }
    }

    @Test func `What is no consumable, refunded, unknown or of no account is not credited`() async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            try await fixture.apply("ONE_TIME_CHARGE", minute: 1, transaction: "2", purchase: "2") { entry in
                entry.event?.transaction?.productType = "Non-Consumable"
            }
            try await fixture.apply("REFUND", minute: 2, transaction: "3", purchase: "3") { entry in
                entry.event?.transaction?.revocationDate = RefundFixture.at(2)
            }
            try await fixture.apply("ONE_TIME_CHARGE", minute: 3, transaction: "4", purchase: "4") { entry in
                entry.event?.transaction?.appAccountToken = nil
            }
            try await fixture.apply("REFUND", minute: 4, transaction: "5", purchase: "5") { entry in
                entry.event?.transaction?.quantity = 4
                entry.event?.transaction?.revocationDate = RefundFixture.at(4)
                entry.event?.transaction?.revocationPercentage = 50_000
            }
            // Half of it is the customer's.
            guard case .credited(let part, isNew: true) = try await Self.credit("5", fixture) else {
                Issue.record("not credited")
                return
            }
            #expect(part.amount == 4 && part.takenBack == 2)
            #expect(try await Self.credit("2", fixture) == .notConsumable("Non-Consumable"))
            #expect(try await Self.credit("3", fixture) == .revoked)
            #expect(try await Self.credit("4", fixture) == .noAccount)
            #expect(try await Self.credit("9", fixture) == .unknown)
            #expect(try await Self.credit("1", among: ["com.example.other"], fixture) == .unknown)
            let other = UUID()
            #expect(try await Self.credit("1", to: other, fixture) == .noAccount)
            try await fixture.connection.run(
                unsafeScript: """
                    insert into purchase_account (
                        decided_at, app_account_token, environment, may_use, bundle_id, original_transaction_id, because)
                    values (now(), '\(other.uuidString)', 'Production', true, '\(Self.app)', '1', 'shared')
                    """)
            #expect(try await Self.credit("1", fixture) == .severalAccounts)
            guard case .credited(_, isNew: true) = try await Self.credit("1", to: other, fixture) else {
                Issue.record("not credited")
                return
            }
            #expect(try await Self.credit("1", to: RefundFixture.account, fixture) == .otherAccount)
        }
    }

    @Test(arguments: ErasureStore.Extent.allCases)
    func `An erasure takes the account from its credits, and the transaction stays credited`(
        extent: ErasureStore.Extent
    ) async throws {
        try await RefundFixture.use(requested: nil) { fixture async throws in
            _ = try await Self.credit("1", fixture)
            let certificate = try await ErasureStore(fixture.connection).forget(
                RefundFixture.account, of: Self.app, in: .production, extent: extent, id: UUID(),
                at: RefundFixture.at(6))
            #expect(certificate != nil)
            #expect(try await Self.balances(fixture).isEmpty)
            guard case .credited(let credit, isNew: false) = try await Self.credit("1", fixture) else {
                Issue.record("credited twice")
                return
            }
            #expect(credit.account == nil)
        }
    }
}
