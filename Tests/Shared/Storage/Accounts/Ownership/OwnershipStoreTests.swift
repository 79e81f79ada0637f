import Contracts
import Foundation
import Postgres
import Subscriptions
import TestSupport
import Testing

@testable import Storage

/// Who may use a purchase, stored: always what the pure decision says about all inputs.
@Suite(.serialized) struct OwnershipStoreTests {
    static let app = CustomerStoreTests.app
    static let scope = CoverageStore.App(.production, app)

    /// The stored rows, and those by the pure decision about everything that the database holds.
    ///
    /// - Parameter bundleId: nil means all apps.
    static func rows(
        _ connection: PostgresConnection, of bundleId: String? = nil
    ) async throws -> (held: Set<PurchaseAccount>, decided: Set<PurchaseAccount>) {
        try await connection.transaction(isolation: .repeatableRead) { transaction in
            let all = try OwnershipStore.purchases(transaction.execute(Self.all, bundleId))
            let inputs = try OwnershipInputs.read(
                transaction.pipeline(OwnershipInputs.commands(reading: all))[...])
            return (
                Set(inputs.values.flatMap(\.held)), Set(inputs.values.flatMap { $0.decided() })
            )
        }
    }

    static func expectDecided(
        _ connection: PostgresConnection, of bundleId: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (held, decided) = try await rows(connection, of: bundleId)
        #expect(
            held == decided,
            """
            \(bundleId ?? "") stored alone: \(held.subtracting(decided).map(text).sorted()), decided alone: \
            \(decided.subtracting(held).map(text).sorted())
            """, sourceLocation: sourceLocation)
    }

    private static func text(_ one: PurchaseAccount) -> String {
        "\(one.key.originalTransactionId) \(one.appAccountToken.suffix(2)) \(one.mayUse) \(one.because)"
    }

    static let all = Statement(
        "test-all-owned",
        """
        select environment::text as environment, bundle_id, original_transaction_id
        from (
            select environment, bundle_id, original_transaction_id from subscription
            union
            select environment, bundle_id, original_transaction_id from account_claim
            union
            select environment, bundle_id, original_transaction_id from purchase_account
        ) as known
        where $1::text is null or bundle_id = $1::text
        """)

    static func answers(_ connection: PostgresConnection, _ id: String = "1") async throws -> [String: String] {
        try await rows(connection).held.filter { $0.key.originalTransactionId == id }.reduce(into: [:]) {
            $0["\($1.appAccountToken.suffix(1))"] = "\($1.mayUse ? "yes" : "no") \($1.because)"
        }
    }

    private static func claim(
        _ id: String, _ token: Int, _ evidence: ClaimEvidence = .signed, customer: String? = nil,
        after seconds: Double = 0
    ) -> AccountClaim {
        AccountClaim(
            key: SubscriptionKey(environment: .production, originalTransactionId: id), bundleId: app,
            appTransactionId: customer, appAccountToken: CustomerStoreTests.tokens[token - 1], evidence: evidence,
            since: Fixtures.now.addingTimeInterval(seconds))
    }

    @Test func `Every reason is stored with the change that makes it, and goes with the change that ends it`()
        async throws
    {
        var fixtures = Fixtures(seed: 1000)
        let (tokens, sharing) = (CustomerStoreTests.tokens, SharingStore.self)
        let free = CustomerStoreTests.purchase("1", of: nil, by: "70", day: 0, &fixtures)
        let owned = CustomerStoreTests.purchase("2", of: tokens[0], by: "71", day: 0, &fixtures)
        try await CustomerStoreTests.use([free, owned]) { connection async throws in
            let (store, sharing) = (CustomerStore(connection), sharing.init(connection))
            #expect(try await Self.answers(connection, "2") == ["1": "yes owner"])
            #expect(try await Self.answers(connection).isEmpty)
            try await store.add([Self.claim("1", 5, .old)])
            #expect(try await Self.answers(connection) == ["5": "yes claim"])
            try await store.add([Self.claim("1", 1), Self.claim("1", 2, after: 1), Self.claim("2", 3)])
            #expect(try await Self.answers(connection) == ["1": "yes claim", "2": "no otherClaim", "5": "no oldCopy"])
            #expect(try await Self.answers(connection, "2") == ["1": "yes owner", "3": "no otherOwner"])
            try await sharing.setPolicy(.refuse, of: Self.app, in: .production, at: Fixtures.now)
            #expect(try await Self.answers(connection) == ["1": "no refused", "2": "no refused", "5": "no oldCopy"])
            try await sharing.setPolicy(.allow, of: Self.app, in: .production, at: Fixtures.now)
            #expect(try await Self.answers(connection) == ["1": "yes shared", "2": "yes shared", "5": "no oldCopy"])
            #expect(try await Self.answers(connection, "2") == ["1": "yes owner", "3": "yes shared"])
            try await sharing.choose(tokens[1], of: Self.app, in: .production, at: Fixtures.now)
            #expect(try await Self.answers(connection) == ["1": "no notChosen", "2": "yes chosen", "5": "no oldCopy"])
            #expect(
                try await sharing.unchoose(tokens[1], of: Self.app, in: .production, at: Fixtures.now))
            #expect(try await Self.answers(connection)["1"] == "yes shared")
            try await sharing.setPolicy(.lastRestoreWins, of: Self.app, in: .production, at: Fixtures.now)
            let token = try #require(UUID(uuidString: tokens[2]))
            _ = try await StatePreviewStore(connection).record(
                [free], in: Self.scope, account: token,
                claiming: UploadClaim(
                    appAccountToken: token, uploadedAt: Fixtures.now, includesOwned: true, evidence: ["1": .signed]),
                at: Fixtures.now
            ) { _ in [] }
            #expect(
                try await Self.answers(connection) == [
                    "1": "no movedAway", "2": "no movedAway", "3": "yes moved", "5": "no oldCopy",
                ])
            _ = try await ErasureStore(connection).forget(
                token, of: Self.app, in: .production, extent: .erase, id: UUID(), at: Fixtures.now)
            #expect(
                try await Self.answers(connection) == ["1": "yes claim", "2": "no otherClaim", "5": "no oldCopy"])
            try await Self.expectDecided(connection)
        }
    }

    @Test(arguments: [false, true])
    func `A claim follows a migration without account and customer, whichever comes first`(isLate: Bool) async throws {
        var fixtures = Fixtures(seed: 1005)
        let old = CustomerStoreTests.purchase("1", of: nil, by: nil, day: 0, &fixtures)
        var migrated = CustomerStoreTests.purchase("9", of: nil, by: nil, day: 10, &fixtures)
        migrated.event?.transaction?.previousOriginalTransactionId = "1"
        try await CustomerStoreTests.use([old]) { connection async throws in
            let claims = CustomerStore(connection)
            if !isLate { try await claims.add([Self.claim("1", 1)]) }
            _ = try await LedgerStore(connection).apply(
                [migrated], moving: [Fixtures.move(1, 2)], recordedAt: Fixtures.now)
            if isLate { try await claims.add([Self.claim("1", 1)]) }
            #expect(try await Self.rows(connection).held.count == 2)
            #expect(try await Self.answers(connection, "9") == ["1": "yes claim"])
            try await Self.expectDecided(connection)
        }
    }

    @Test func `A restore follows a migration that comes after it`() async throws {
        var fixtures = Fixtures(seed: 1006)
        let old = CustomerStoreTests.purchase("1", of: CustomerStoreTests.tokens[0], by: nil, day: 0, &fixtures)
        var migrated = CustomerStoreTests.purchase("9", of: nil, by: nil, day: 200, &fixtures)
        migrated.event?.transaction?.previousOriginalTransactionId = "1"
        try await CustomerStoreTests.use([old]) { connection async throws in
            try await SharingStore(connection).setPolicy(
                .lastRestoreWins, of: Self.app, in: .production, at: Fixtures.now)
            let token = try #require(UUID(uuidString: CustomerStoreTests.tokens[1]))
            _ = try await StatePreviewStore(connection).record(
                [old], in: Self.scope, account: token,
                claiming: UploadClaim(
                    appAccountToken: token, uploadedAt: Fixtures.now, includesOwned: true, evidence: ["1": .signed]),
                at: Fixtures.now
            ) { _ in [] }
            _ = try await LedgerStore(connection).apply(
                [migrated], moving: [Fixtures.move(1, 2)], recordedAt: Fixtures.now)
            #expect(try await Self.answers(connection, "9") == ["2": "yes moved"])
            try await Self.expectDecided(connection)
        }
    }

    @Test(arguments: 1010...1017 as ClosedRange<UInt64>)
    func `Batches in any order and of any size store what the decision about all of them says`(seed: UInt64)
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            var generator = SeededGenerator(state: seed)
            var rest = CustomerStoreTests.entries(seed: seed, mixing: 2).shuffled(using: &generator)[...]
            while !rest.isEmpty {
                let batch = rest.prefix(.random(in: 1...20, using: &generator))
                rest = rest.dropFirst(batch.count)
                _ = try await LedgerStore(connection).apply(Array(batch), moving: [], recordedAt: Fixtures.now)
                try await Self.expectDecided(connection)
            }
            #expect(try await Self.rows(connection).held.count >= 5)
        }
    }

    @Test func `A renewal decides nothing again`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            var fixtures = Fixtures(seed: 1020)
            let first = LedgerCostTests.batch(number: 0, purchases: 0..<3, &fixtures)
            _ = try await LedgerStore(connection).apply(first, moving: [], recordedAt: Fixtures.now)
            let count = Statement(unsafeSQL: "select count(*) as count, min(xmin::text) as first from purchase_account")
            let before = try await connection.execute(count)[0].value("first", as: String.self)
            let later = LedgerCostTests.batch(number: 1, purchases: 0..<3, &fixtures)
            _ = try await LedgerStore(connection).apply(later, moving: [], recordedAt: Fixtures.now)
            let row = try await connection.execute(count)[0]
            #expect(try row.value("count", as: Int64.self) == 3)
            #expect(try row.value("first", as: String.self) == before)
        }
    }

    @Test func `A policy is applied to any number of purchases in portions, and continued after an interruption`()
        async throws
    {
        var fixtures = Fixtures(seed: 1030)
        let entries = (0..<60).map { CustomerStoreTests.purchase("\($0)", of: nil, by: nil, day: 0, &fixtures) }
        try await CustomerStoreTests.use(entries) { connection async throws in
            try await CustomerStore(connection).add(
                (0..<60).flatMap { [Self.claim("\($0)", 1), Self.claim("\($0)", 2, after: 1)] })
            let refusal = Statement(
                unsafeSQL: "update sharing_policy set policy = 'refuse', is_applied = false, applied_purchase = null")
            try await SharingStore(connection).setPolicy(.allow, of: Self.app, in: .production, at: Fixtures.now)
            try await Self.expectDecided(connection)
            // As a command leaves it that was interrupted after it set the policy.
            _ = try await connection.execute(refusal)
            let application = PolicyApplication(connection)
            #expect(try await application.next(limit: 25, at: Fixtures.now)?.purchases == 25)
            #expect(try await Self.rows(connection).held.filter { $0.because == .refused }.count == 50)
            #expect(try await application.next(limit: 25, at: Fixtures.now)?.purchases == 25)
            #expect(try await application.next(limit: 25, at: Fixtures.now)?.purchases == 10)
            #expect(try await application.next(limit: 25, at: Fixtures.now)?.purchases == 0)
            #expect(try await application.next(limit: 25, at: Fixtures.now) == nil)
            try await Self.expectDecided(connection)
        }
    }

    @Test func `How many accounts may claim without a setting is said by the pure rule alone`() async throws {
        try await LedgerStoreTests.use { connection, _ async throws in
            try await SharingStore(connection).setPolicy(.allow, of: Self.app, in: .production, at: Fixtures.now)
            let rows = try await connection.execute(
                unsafeSQL: """
                    select most_accounts, pg_get_expr(adbin, adrelid) as by_itself
                    from sharing_policy
                    left join pg_attrdef on adrelid = 'sharing_policy'::regclass and adnum = (
                        select attnum
                        from pg_attribute
                        where attrelid = 'sharing_policy'::regclass and attname = 'most_accounts')
                    """)
            #expect(try rows.map { row in try row.value("most_accounts", as: Int32.self) } == [10])
            #expect(SharingPolicy.mostAccounts == 10)
            #expect(try rows.compactMap { row in try row.optional("by_itself", as: String.self) } == [])
        }
    }

    @Test func `A policy is applied to purchases of the app itself after all others`() async throws {
        var fixtures = Fixtures(seed: 1035)
        let entry = CustomerStoreTests.purchase("1", of: nil, by: nil, day: 0, &fixtures)
        try await CustomerStoreTests.use([entry]) { connection async throws in
            try await CustomerStore(connection).add([Self.claim("1", 1)])
            for (number, token) in CustomerStoreTests.tokens.prefix(2).enumerated() {
                for identity in ["70", "71", "72"] {
                    try await AccountAppStore(connection).add(
                        AccountAppStore.AccountApp(
                            environment: .production, bundleId: Self.app,
                            appAccountToken: #require(UUID(uuidString: token)),
                            identity: identity, evidence: .signed, originalApplicationVersion: "1",
                            originalPurchaseDate: nil, recordedAt: Fixtures.now.addingTimeInterval(Double(number))),
                        isRestore: false)
                }
            }
            let entitled = Statement(unsafeSQL: "select count(*) as count from account_app where is_entitled")
            func count() async throws -> Int64 { try await connection.execute(entitled)[0].value("count") }
            for (policy, expected) in [(SharingPolicy.allow, Int64(6)), (.refuse, 0), (.firstWins, 3)] {
                try await SharingStore(connection).setPolicy(policy, of: Self.app, in: .production, at: Fixtures.now)
                #expect(try await count() == expected, "\(policy)")
            }
            let refusal = Statement(
                unsafeSQL: "update sharing_policy set policy = 'refuse', is_applied = false, applied_purchase = null")
            _ = try await connection.execute(refusal)
            let application = PolicyApplication(connection)
            var portions: [Int] = []
            while let portion = try await application.next(limit: 2, at: Fixtures.now) {
                portions.append(portion.purchases)
            }
            #expect(portions == [1, 2, 1, 0])
            #expect(try await count() == 0)
        }
    }

    @Test func `The access of an account is read by indexes alone, and nothing is sorted`() async throws {
        var fixtures = Fixtures(seed: 1040)
        let token = CustomerStoreTests.tokens[0]
        let entry = CustomerStoreTests.purchase("1", of: token, by: "70", day: 0, &fixtures)
        try await CustomerStoreTests.use([entry]) { connection async throws in
            let plan = try await connection.transaction { transaction in
                // Of tables with one row a plan without this would read all of it.
                try transaction.run(unsafeScript: "set local enable_seqscan = off")
                return try transaction.execute(
                    Statement(
                        unsafeSQL: """
                            explain (costs off)
                            select product_id, reason, until
                            from account_access
                            where app_account_token = '\(token)' and bundle_id = '\(Self.app)'
                                and environment = 'Production' and now() <@ period
                            """)
                ).map { row in try row.value(at: 0, as: String.self) }
            }
            let text = plan.joined(separator: "\n")
            #expect(!text.contains("Sort") && !text.contains("Seq Scan"), "\(text)")
            #expect(
                text.contains("purchase_account_by_account") && text.contains("access_period_by_purchase"), "\(text)")
        }
    }
}
