import AppStore
import Contracts
import Foundation
import Kafka
import Postgres
import Signatures
import Storage
import Subscriptions
import TestSupport
import Testing

@testable import API
@testable import AppStoreSamples

@Suite struct RestoreTests {
    static let account = UUID()

    @Test func `A purchase without an account belongs to the one that uploads it first`() async throws {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction()
            let first = try await fixture.upload([signed], of: Self.account)
            #expect(first.access.contains("monthly"))
            try await fixture.apply(fixture.records(1))
            try await fixture.api.pass()
            let second = UUID()
            let answer = try await fixture.upload([signed], to: "/v1/restores", of: second)
            #expect(answer.access == "[]")
            #expect(answer.json?["withheld"]?.elements.first?["reason"]?.string == "otherAccount")
            #expect(try await fixture.entitlements(of: Self.account).access == first.access)
            #expect(try await fixture.entitlements(of: second).access == "[]")
        }
    }

    /// The later account uploads the same purchase, or another one of the same Apple account.
    @Test(arguments: ["2000000000000001", "2000000000000002"])
    func `An account that uploads later claims later, also where the clock of its instance is behind`(
        purchase: String
    ) async throws {
        try await UploadFixture.with { fixture in
            let (first, second) = (UUID(), UUID())
            try await fixture.api.pass(60)
            let bought = try fixture.transaction { $0.appTransactionId = "70001" }
            let before = try await fixture.upload([bought], of: first)
            #expect(before.access.contains("monthly"))
            try await fixture.apply([fixture.received(bought)])
            fixture.api.clock.setAhead(by: -30)
            let other = try fixture.transaction(purchase) { $0.appTransactionId = "70001" }
            _ = try await fixture.upload([other], of: second)
            let connection = TestDatabase.connection(fixture.api.database)
            let claimants = try await connection.execute(
                unsafeSQL: "select app_account_token from account_claim order by since"
            ).map { row in try row.value(at: 0, as: UUID.self) }
            await connection.close()
            #expect(claimants == [first, second])
            #expect(try await fixture.entitlements(of: first).access == before.access)
        }
    }

    @Test(arguments: [(SharingPolicy.lastRestoreWins, true), (.lastRestoreWinsIfLapsed, false), (.firstWins, false)])
    func `A restore moves a purchase that is in use as the policy says, and an upload never does`(
        policy: SharingPolicy, isMoved: Bool
    ) async throws {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(policy)
            let signed = try fixture.transaction(of: Self.account)
            _ = try await fixture.upload([signed], of: Self.account)
            try await fixture.apply([fixture.received(signed)])
            try await fixture.api.pass()
            let second = UUID()
            #expect(try await fixture.upload([signed], of: second).access == "[]")
            let restored = try await fixture.upload([signed], to: "/v1/restores", of: second)
            #expect(restored.access.contains("monthly") == isMoved)
            #expect(try await fixture.entitlements(of: second).access == restored.access)
            let first = try await fixture.entitlements(of: Self.account)
            #expect(first.access.contains("monthly") == !isMoved)
        }
    }

    @Test func `A lapsed purchase that another account restores and then buys again is its own`() async throws {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(.lastRestoreWinsIfLapsed)
            let lapsed = try fixture.transaction(of: Self.account) {
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-100 * 86_400)
                $0.expiresDate = UploadFixture.now.addingTimeInterval(-70 * 86_400)
            }
            _ = try await fixture.upload([lapsed], of: Self.account)
            try await fixture.apply([fixture.received(lapsed)])
            let second = UUID()
            let restored = try await fixture.upload([lapsed], to: "/v1/restores", of: second)
            #expect(restored.access == "[]", "it has lapsed")
            let renewed = try fixture.transaction(of: Self.account) {
                $0.transactionId = "2000000000000077"
                $0.purchaseDate = UploadFixture.now.addingTimeInterval(-1)
            }
            try await fixture.apply([fixture.received(renewed)])
            #expect(try await fixture.entitlements(of: second).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: Self.account).access == "[]")
        }
    }

    /// Longer than `STOREKEEPER_CLAIM_AGE`.
    private static func signedLongAgo(_ transaction: inout JWSTransactionDecodedPayload) {
        transaction.signedDate = UploadFixture.now.addingTimeInterval(-300 * 86_400)
        transaction.purchaseDate = UploadFixture.now.addingTimeInterval(-300 * 86_400)
    }

    @Test(arguments: SharingPolicy.allCases)
    func `An old copy takes nothing from the account that has the purchase, and blocks it under no policy (O1)`(
        policy: SharingPolicy
    ) async throws {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(policy)
            let old = try fixture.transaction { Self.signedLongAgo(&$0) }
            let fresh = try fixture.transaction { $0.signedDate = UploadFixture.now }
            let first = try await fixture.upload([fresh], of: Self.account)
            #expect(first.claims == ["signed"] && first.access.contains("monthly"))
            try await fixture.apply(fixture.records(1))
            try await fixture.api.pass()
            let thief = UUID()
            for path in ["/v1/transactions", "/v1/restores"] {
                let answer = try await fixture.upload([old], to: path, of: thief)
                #expect(answer.claims == ["old"] && answer.access == "[]")
                let withheld = try #require(answer.json?["withheld"]?.elements.first)
                #expect(withheld["reason"]?.string == "oldCopy")
                #expect(withheld["nextStep"]?.string?.contains("AppStore.sync()") == true)
            }
            try await fixture.apply([fixture.received(old)])
            #expect(try await fixture.entitlements(of: thief).access == "[]")
            #expect(try await fixture.entitlements(of: Self.account).access.contains("monthly"))
        }
    }

    @Test func `An old copy claims what no other account has, until stronger evidence comes (O1)`() async throws {
        try await UploadFixture.with { fixture in
            let old = try fixture.transaction { Self.signedLongAgo(&$0) }
            let first = try await fixture.upload([old], of: Self.account)
            #expect(first.claims == ["old"] && first.access.contains("monthly"))
            try await fixture.apply(fixture.records(1))
            #expect(try await fixture.entitlements(of: Self.account).access.contains("monthly"))
            try await fixture.api.pass()
            let second = UUID()
            let fresh = try fixture.transaction { $0.signedDate = UploadFixture.now }
            #expect(try await fixture.upload([fresh], of: second).access.contains("monthly"))
            try await fixture.apply([fixture.received(fresh)])
            #expect(try await fixture.entitlements(of: second).access.contains("monthly"))
            let displaced = try await fixture.entitlements(of: Self.account)
            #expect(displaced.access == "[]")
            #expect(displaced.json?["withheld"]?.elements.first?["reason"]?.string == "oldCopy")
        }
    }

    @Test func `A purchase that several accounts claim and the policy gives to none says so in every answer (O3)`()
        async throws
    {
        try await UploadFixture.with { fixture in
            try await fixture.setPolicy(.refuse)
            let signed = try fixture.transaction()
            #expect(try await fixture.upload([signed], of: Self.account).access.contains("monthly"))
            try await fixture.apply([fixture.received(signed)])
            try await fixture.api.pass()
            let second = UUID()
            var answers = [
                try await fixture.upload([signed], of: second),
                try await fixture.upload([signed], to: "/v1/restores", of: second),
            ]
            for account in [Self.account, second] { answers.append(try await fixture.entitlements(of: account)) }
            for answer in answers {
                let withheld = try #require(answer.json?["withheld"]?.elements.first)
                #expect(answer.access == "[]" && withheld["reason"]?.string == "refused")
                #expect(withheld["nextStep"]?.string?.contains("customers choose") == true)
            }
            let product = try await fixture.api.get(
                "/v1/accounts/\(second.uuidString.lowercased())/products/com.example.reader.monthly", key: fixture.key)
            #expect(product.json?["isOwned"]?.bool == false && product.json?["reason"]?.string == "refused")
        }
    }

    /// Apple's ids of one environment may be those of the other.
    @Test func `A restore in the sandbox moves nothing in Production, whatever has the same id`() async throws {
        try await UploadFixture.with { fixture in
            let connection = TestDatabase.connection(fixture.api.database)
            for environment in [StoreEnvironment.production, .sandbox] {
                try await SharingStore(connection).setPolicy(
                    .lastRestoreWins, of: ForgeryMaterial.bundleId, in: environment, at: UploadFixture.now)
            }
            await connection.close()
            let sandbox = try await fixture.api.key(environment: .sandbox)
            let second = UUID()
            let paid = try fixture.transaction(of: Self.account)
            let tested = try fixture.transaction(of: Self.account) { $0.environment = .sandbox }
            try await fixture.apply([fixture.received(paid), fixture.received(tested)])
            func restore(_ signed: [UInt8]) async throws -> RunningAPI.Answer {
                try await fixture.post("/v1/restores", key: sandbox) { json in
                    json.member("appAccountToken", second.uuidString)
                    json.strings("signedTransactions", of: [String(decoding: signed, as: UTF8.self)])
                }
            }
            #expect(try await restore(paid).problem == "nothing-verified")
            #expect(try await restore(tested).access.contains("monthly"))
            #expect(try await fixture.entitlements(of: second).access == "[]")
            #expect(try await fixture.entitlements(of: Self.account).access.contains("monthly"))
        }
    }

    @Test func `An upload of a purchase that another account has says so, with what to do (O3)`() async throws {
        try await UploadFixture.with { fixture in
            let signed = try fixture.transaction(of: Self.account)
            _ = try await fixture.upload([signed], of: Self.account)
            try await fixture.apply(fixture.records(1))
            let answer = try await fixture.upload([signed], of: UUID())
            #expect(answer.json?["finish"]?.bool == true && answer.access == "[]")
            let withheld = try #require(answer.json?["withheld"]?.elements.first)
            #expect(withheld["reason"]?.string == "otherAccount" && withheld["nextStep"]?.string?.isEmpty == false)
        }
    }
}
