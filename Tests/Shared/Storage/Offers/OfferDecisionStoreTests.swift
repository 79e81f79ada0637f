import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Offers are signed by rule, and noted.
@Suite(.hangLimit) struct OfferDecisionStoreTests {
    private static let app = CoverageStore.App(.production, RefundFixture.app)
    private static let rules = """
        {"rules": [
            {"productId": "pro", "offerIdentifier": "welcome", "who": ["neverPaid"], "atMost": {"count": 2, "days": 30}},
            {"productId": "pro", "offerIdentifier": "thanks", "who": ["active"], "noRefundDays": 30,
             "atMost": {"count": 1, "days": 30}}
        ]}
        """

    private static let audit = OperatorAction(
        actedAt: RefundFixture.start, actor: "ann", operation: "offers rules set", subject: app.bundleId, reason: nil)

    private static func request(
        _ offer: String, account: UUID? = UUID(), transactionId: String? = nil
    ) -> OfferSignatureStore.Request {
        OfferSignatureStore.Request(
            app: app, account: account, productId: "pro", offerIdentifier: offer, transactionId: transactionId,
            keyId: "KEY1")
    }

    private static func sign(
        _ request: OfferSignatureStore.Request, minute: Double, isRuleNeeded: Bool = true,
        on connection: PostgresConnection
    ) async throws -> OfferSignatureStore.Outcome {
        try await OfferDecisionStore(connection).sign(
            request, isRuleNeeded: isRuleNeeded, nonce: UUID(), at: RefundFixture.at(minute))
    }

    private static func nonce(_ outcome: OfferSignatureStore.Outcome) -> UUID? {
        if case .signed(let nonce, _) = outcome { nonce } else { nil }
    }

    private static func use(_ body: (RefundFixture) async throws -> Void) async throws {
        try await RefundFixture.use(requested: nil, policy: nil) { fixture async throws in
            let number = try await OfferRuleStore(fixture.connection).add(
                rules, to: app.bundleId, in: .production, by: "ann", at: RefundFixture.start, audit: audit)
            #expect(number == 1)
            try await body(fixture)
        }
    }

    @Test func `50 requests at once get no more signatures than the rule allows`() async throws {
        try await Self.use { fixture async throws in
            let (database, account) = (fixture.database, UUID())
            let outcomes = try await withThrowingTaskGroup(of: [OfferSignatureStore.Outcome].self) { group in
                for worker in 0..<10 {
                    group.addTask {
                        let connection = TestDatabase.connection(database)
                        var outcomes: [OfferSignatureStore.Outcome] = []
                        for one in 0..<5 {
                            // Of different transactions, so that none is a repeat.
                            let request = Self.request(
                                "welcome", account: account, transactionId: "t\(worker * 5 + one)")
                            outcomes.append(try await Self.sign(request, minute: 1, on: connection))
                        }
                        await connection.close()
                        return outcomes
                    }
                }
                return try await group.reduce(into: []) { $0 += $1 }
            }
            #expect(Set(outcomes.compactMap(Self.nonce)).count == 2)
            #expect(
                outcomes.count { $0 == .refused(.signedTooOften(OfferRule.Limit(count: 2, days: 30))) } == 48)
            #expect(try await OfferSignatureStore(fixture.connection).newest(100, in: Self.app).count == 2)
        }
    }

    @Test func `The same request within a minute gets the same nonce and time, and counts once`() async throws {
        try await Self.use { fixture async throws in
            let request = Self.request("welcome")
            let first = try await Self.sign(request, minute: 1, on: fixture.connection)
            #expect(try await Self.sign(request, minute: 1.5, on: fixture.connection) == first)
            let later = try await Self.sign(request, minute: 2, on: fixture.connection)
            #expect(Self.nonce(later) != nil && Self.nonce(later) != Self.nonce(first))
            // The limit is reached, and a repeat is still answered.
            #expect(try await Self.sign(request, minute: 2.5, on: fixture.connection) == later)
            #expect(Self.nonce(try await Self.sign(request, minute: 4, on: fixture.connection)) == nil)
            let days = 30.0 * 24 * 60
            #expect(Self.nonce(try await Self.sign(request, minute: days + 1.5, on: fixture.connection)) != nil)
        }
    }

    @Test func `Without a rule nothing is signed and nothing noted, unless rules are not needed`() async throws {
        try await Self.use { fixture async throws in
            let connection = fixture.connection
            let request = Self.request("other", account: nil)
            let refused = try await Self.sign(request, minute: 1, on: connection)
            #expect(refused == .refused(.noRule(productId: "pro", offerIdentifier: "other")))
            #expect(try await OfferSignatureStore(connection).newest(100, in: Self.app) == [])
            let signed = try await Self.sign(request, minute: 1, isRuleNeeded: false, on: connection)
            let another = try await Self.sign(request, minute: 1, isRuleNeeded: false, on: connection)
            // No account is named: they may be two customers, and Apple takes a nonce once.
            #expect(Self.nonce(signed) != nil && Self.nonce(another) != nil && signed != another)
            // A rule decides where there is one.
            let unnamed = Self.request("welcome", account: nil)
            #expect(
                try await Self.sign(unnamed, minute: 1, isRuleNeeded: false, on: connection) == .refused(.noAccount))
        }
    }

    @Test func `The purchases of the account decide, and the offer that was bought is redeemed`() async throws {
        try await Self.use { fixture async throws in
            let (account, connection) = (RefundFixture.account, fixture.connection)
            let (welcome, thanks) = (
                Self.request("welcome", account: account), Self.request("thanks", account: account)
            )
            // The fixture's account has paid for a consumable.
            #expect(
                try await Self.sign(welcome, minute: 1, on: connection) == .refused(.notAmong([.neverPaid])))
            #expect(try await Self.sign(thanks, minute: 1, on: connection) == .refused(.notAmong([.active])))
            func subscribe(_ type: String, minute: Double, _ change: (inout TransactionFacts) -> Void = { _ in })
                async throws
            {
                try await fixture.apply(type, minute: minute, transaction: "7-\(minute)", purchase: "7") { entry in
                    entry.event?.transaction?.productId = "pro"
                    entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                    entry.event?.transaction?.purchaseDate = RefundFixture.at(minute)
                    entry.event?.transaction?.signedDate = RefundFixture.at(minute)
                    entry.event?.transaction?.expiresDate = RefundFixture.at(minute + 60)
                    if var facts = entry.event?.transaction {
                        change(&facts)
                        entry.event?.transaction = facts
                    }
                }
            }
            try await subscribe("SUBSCRIBED", minute: 2)
            let signed = try await Self.sign(thanks, minute: 3, on: connection)
            #expect(Self.nonce(signed) != nil)
            let (offers, _) = try await OfferDecisionStore(connection).offers(
                of: account, in: Self.app, at: RefundFixture.at(5))
            #expect(
                offers.map(\.refusal) == [
                    .notAmong([.neverPaid]), .signedTooOften(OfferRule.Limit(count: 1, days: 30)),
                ])
            let store = OfferSignatureStore(connection)
            #expect(try await store.newest(10, in: Self.app).map(\.redeemedBy) == [nil])
            try await subscribe("OFFER_REDEEMED", minute: 10) { facts in
                (facts.offerType, facts.offerIdentifier) = (2, "thanks")
            }
            #expect(try await store.newest(10, in: Self.app, account: account).map(\.redeemedBy) == ["7-10.0"])
            #expect(try await store.newest(10, in: Self.app, account: UUID()) == [])
        }
    }

    @Test func `A new account gets no offer for a transaction of another customer`() async throws {
        try await Self.use { fixture async throws in
            func sign(_ id: String, _ account: UUID = UUID()) async throws -> OfferSignatureStore.Outcome {
                try await Self.sign(
                    Self.request("welcome", account: account, transactionId: id), minute: 1, on: fixture.connection)
            }
            try await fixture.apply("ONE_TIME_CHARGE", minute: 1, transaction: "5", purchase: "5") { entry in
                entry.event?.transaction?.appTransactionId = "customer"
            }
            for id in ["1", "5", "customer"] {
                #expect(try await sign(id) == .refused(.otherCustomer(id)))
                let own = try await sign(id, RefundFixture.account)
                #expect(own == .refused(.notAmong([.neverPaid])), "the account's own, which has paid")
            }
            #expect(Self.nonce(try await sign("unknown")) != nil)
        }
    }

    @Test func `A detached or erased account leaves no signature, and gets none`() async throws {
        for extent in ErasureStore.Extent.allCases {
            try await Self.use { fixture async throws in
                let (account, connection) = (UUID(), fixture.connection)
                let request = Self.request("welcome", account: account)
                #expect(Self.nonce(try await Self.sign(request, minute: 1, on: connection)) != nil)
                let certificate = try await ErasureStore(connection).forget(
                    named: account.uuidString, of: Self.app.bundleId, in: .production, extent: extent, id: UUID(),
                    at: RefundFixture.at(2))
                #expect(certificate != nil)
                #expect(try await OfferSignatureStore(connection).newest(100, in: Self.app) == [])
                #expect(try await Self.sign(request, minute: 3, on: connection) == .erased)
            }
        }
    }
}
