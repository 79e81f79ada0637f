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
            // A renewal has the offer, too, and redeems nothing more.
            try await subscribe("DID_RENEW", minute: 70) { facts in
                (facts.offerType, facts.offerIdentifier) = (2, "thanks")
            }
            let other = Self.request("other", account: account)
            #expect(Self.nonce(try await Self.sign(other, minute: 80, isRuleNeeded: false, on: connection)) != nil)
            let redemptions = try await store.redemptions(in: Self.app)
            #expect(
                redemptions.map { "\($0.offerIdentifier) \($0.redeemed)/\($0.signed)" } == ["other 0/1", "thanks 1/1"])
        }
    }

    @Test func `A refund of some seats excludes the customer until Apple takes it back`() async throws {
        try await Self.use { fixture async throws in
            let thanks = Self.request("thanks", account: RefundFixture.account)
            func tell(_ type: String, _ subtype: String? = nil, minute: Double, refundedSeats: Int?) async throws {
                try await fixture.apply(type, minute: minute, transaction: "7", purchase: "7") { entry in
                    entry.subtype = subtype
                    entry.event?.subtype = subtype
                    entry.event?.transaction?.productId = "pro"
                    entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                    entry.event?.transaction?.purchaseDate = RefundFixture.at(2)
                    entry.event?.transaction?.signedDate = RefundFixture.at(minute)
                    entry.event?.transaction?.expiresDate = RefundFixture.at(600)
                    entry.event?.transaction?.quantity = 5
                    entry.event?.transaction?.revokedSeatQuantity = refundedSeats
                }
            }
            let refused = OfferSignatureStore.Outcome.refused(.refunded(at: RefundFixture.at(5), days: 30))
            try await tell("SUBSCRIBED", minute: 2, refundedSeats: nil)
            try await tell("REFUND", "SEATS", minute: 5, refundedSeats: 1)
            #expect(try await Self.sign(thanks, minute: 6, on: fixture.connection) == refused)
            // What Apple signs later shows the seats, too, and refunds nothing; nor does a request that it declines take back any.
            try await tell("DID_CHANGE_RENEWAL_STATUS", "AUTO_RENEW_ENABLED", minute: 7, refundedSeats: 1)
            try await tell("REFUND_DECLINED", minute: 8, refundedSeats: 1)
            #expect(try await Self.sign(thanks, minute: 9, on: fixture.connection) == refused)
            try await tell("REFUND_REVERSED", minute: 10, refundedSeats: nil)
            #expect(Self.nonce(try await Self.sign(thanks, minute: 11, on: fixture.connection)) != nil)
        }
    }

    @Test(arguments: ["seats", "items"])
    func `A refund in part that no notification told excludes the customer from the purchase on`(part: String)
        async throws
    {
        try await Self.use { fixture async throws in
            let thanks = Self.request("thanks", account: RefundFixture.account)
            func tell(_ type: String, minute: Double, isRefunded: Bool) async throws {
                try await fixture.apply(type, minute: minute, transaction: "7", purchase: "7") { entry in
                    entry.event?.transaction?.productId = "pro"
                    entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                    entry.event?.transaction?.purchaseDate = RefundFixture.at(2)
                    entry.event?.transaction?.signedDate = RefundFixture.at(minute)
                    entry.event?.transaction?.expiresDate = RefundFixture.at(600)
                    guard isRefunded else { return }
                    entry.event?.transaction?.revokedSeatQuantity = part == "seats" ? 1 : nil
                    entry.event?.transaction?.revocationPercentage = part == "items" ? 40_000 : nil
                }
            }
            try await tell("SUBSCRIBED", minute: 2, isRefunded: false)
            for (type, minute, refundedAt) in [("TRANSACTION", 5.0, 2.0), ("REFUND", 8, 8)] {
                try await tell(type, minute: minute, isRefunded: true)
                #expect(
                    try await Self.sign(thanks, minute: 9, on: fixture.connection)
                        == .refused(.refunded(at: RefundFixture.at(refundedAt), days: 30)), "\(type)")
            }
            try await tell("REFUND_REVERSED", minute: 10, isRefunded: false)
            #expect(Self.nonce(try await Self.sign(thanks, minute: 11, on: fixture.connection)) != nil)
        }
    }

    @Test func `A subscription has lapsed since its access ended, and a grace period is access`() async throws {
        try await Self.use { fixture async throws in
            let (connection, day) = (fixture.connection, 24 * 60.0)
            let rules = """
                {"rules": [{"productId": "pro", "offerIdentifier": "back", "who": ["lapsed"], "lapsedDays": 7,
                            "atMost": {"count": 9, "days": 1}}]}
                """
            _ = try await OfferRuleStore(connection).add(
                rules, to: Self.app.bundleId, in: .production, by: "ann", at: RefundFixture.start, audit: Self.audit)
            let end = RefundFixture.at(17 * day)
            for (type, status, minute) in [("DID_FAIL_TO_RENEW", 4, day + 60), ("EXPIRED", 2, 17 * day + 60)] {
                try await fixture.apply(type, minute: minute, transaction: "7", purchase: "7") { entry in
                    entry.event?.status = status
                    entry.event?.transaction?.productId = "pro"
                    entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                    entry.event?.transaction?.expiresDate = RefundFixture.at(day)
                    entry.event?.transaction?.signedDate = RefundFixture.at(minute)
                    entry.event?.renewal = RenewalFacts(
                        autoRenewStatus: status == 4, isInBillingRetry: status == 4,
                        gracePeriodExpiresDate: status == 4 ? end : nil, expirationIntent: 2,
                        renewalDate: RefundFixture.at(day), signedDate: RefundFixture.at(minute), productId: "pro")
                }
            }
            for (days, refusal) in [
                (6.0, OfferRefusal.lapsedTooRecently(at: end, days: 7)), (8, nil),
            ] as [(Double, OfferRefusal?)] {
                let (offers, _) = try await OfferDecisionStore(connection).offers(
                    of: RefundFixture.account, in: Self.app, at: end.addingTimeInterval(days * 86_400))
                #expect(offers.map(\.refusal) == [refusal], "\(days) days")
            }
        }
    }

    @Test func `An account's win-back offers are those of the newest renewal info, best first`() async throws {
        try await Self.use { fixture async throws in
            func winBacks(_ account: UUID = RefundFixture.account) async throws -> [OfferDecisionStore.WinBack] {
                try await OfferDecisionStore(fixture.connection).offers(
                    of: account, in: Self.app, at: RefundFixture.at(100)
                ).winBacks
            }
            for (minute, offers) in [(20.0, ["best", "second"]), (10, ["older"])] {
                try await fixture.apply("EXPIRED", minute: minute, transaction: "7", purchase: "7") { entry in
                    entry.event?.transaction?.productId = "pro"
                    entry.event?.transaction?.productType = "Auto-Renewable Subscription"
                    entry.event?.transaction?.expiresDate = RefundFixture.at(minute)
                    entry.event?.renewal = RenewalFacts(
                        autoRenewStatus: false, signedDate: RefundFixture.at(minute), productId: "pro",
                        eligibleWinBackOfferIds: offers)
                }
            }
            let expected = OfferDecisionStore.WinBack(
                originalTransactionId: "7", productId: "pro", offerIdentifiers: ["best", "second"],
                signedAt: RefundFixture.at(20))
            #expect(try await winBacks() == [expected])
            #expect(try await winBacks(UUID()) == [])
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
                let (offers, _) = try await OfferDecisionStore(connection).offers(
                    of: account, in: Self.app, at: RefundFixture.at(3))
                #expect(offers == [], "none that would not be signed")
            }
        }
    }

    @Test func `The plan that is made once looks up the customer's purchases, and reads no others`() async throws {
        let name = "offer-decision-introductory"
        let statement = try #require(OfferDecisionStore.statements.first { $0.name == name })
        try await TestDatabase.connected { connection async throws in
            try await connection.run(
                unsafeScript: """
                    set plan_cache_mode = force_generic_plan;
                    prepare asked (text, text[], text) as \(statement.sql)
                    """)
            let plan = try await connection.execute(
                unsafeSQL: "explain execute asked ('Production', '{1}', 'group')"
            ).map { row in try row.value(at: 0, as: String.self) }
            #expect(plan.contains { $0.contains("(original_transaction_id = given.given_id)") }, "\(plan)")
        }
    }
}
