import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct AppleAccountTests {
    static func claim(
        _ id: String, _ token: String, customer: String? = nil, since day: Double,
        environment: StoreEnvironment = .production, bundleId: String = "com.example.metals"
    ) -> AccountClaim {
        AccountClaim(
            key: Sample.key(id, environment), bundleId: bundleId, appTransactionId: customer, appAccountToken: token,
            since: Sample.day(day))
    }

    static func accounts(_ claims: [AccountClaim]) -> [AppleAccount] {
        let accounts = AppleAccount.all(in: claims)
        var generator = SeededGenerator(state: 3)
        for _ in 0..<20 {
            #expect(AppleAccount.all(in: (claims + claims).shuffled(using: &generator)) == accounts)
        }
        return accounts
    }

    @Test func `purchases that name one customer are bundled`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", customer: "c", since: 1), Self.claim("2", "anna", customer: "c", since: 2),
            Self.claim("3", "bert", since: 3),
        ])
        #expect(accounts.map(\.keys) == [[Sample.key("1"), Sample.key("2")], [Sample.key("3")]])
        #expect(accounts.map(\.isShared) == [false, false])
        #expect(accounts.map { $0.entitledTokens(to: $0.keys[0], .refuse) } == [["anna"], ["bert"]])
    }

    @Test func `one Apple account that feeds two accounts of the app is seen, and the policy decides`() {
        let accounts = Self.accounts([
            Self.claim("2", "bert", customer: "c", since: 2), Self.claim("1", "anna", customer: "c", since: 1),
            Self.claim("1", "bert", since: 5),
        ])
        #expect(accounts.map(\.isShared) == [true])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .firstWins) == ["anna"])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .refuse) == [])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .allow) == ["anna", "bert"])
    }

    @Test func `a purchase named with and without the customer links the rest`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", since: 1), Self.claim("2", "bert", customer: "c", since: 2),
            Self.claim("1", "anna", customer: "c", since: 3),
        ])
        #expect(accounts.map(\.appAccountTokens) == [["anna", "bert"]])
    }

    @Test func `an upload of somebody else's purchase is a claim like any other`() {
        let accounts = Self.accounts([Self.claim("1", "anna", since: 1), Self.claim("1", "bert", since: 2)])
        #expect(accounts.map(\.isShared) == [true])
    }

    @Test(arguments: [["anna", "bert"], ["bert", "anna"]])
    func `a purchase that was moved from one account to another is that of the other, however they are spelt`(
        names: [String]
    ) {
        func claim(_ token: String, told day: Double) -> AccountClaim {
            var claim = Self.claim("1", token, since: 1)
            claim.toldAt = Sample.day(day)
            return claim
        }
        let accounts = Self.accounts([claim(names[0], told: 1), claim(names[1], told: 5)])
        #expect(accounts.map { $0.entitledTokens(to: Sample.key("1"), .firstWins) } == [[names[1]]])
        // An older purchase is not moved along.
        let older = Self.accounts([
            claim(names[0], told: 1), claim(names[1], told: 5), Self.claim("1", names[0], since: 0),
        ])
        #expect(older.map { $0.entitledTokens(to: Sample.key("1"), .firstWins) } == [[names[0]]])
    }

    /// Two purchases of one Apple account, the first by anna, the second naming an account or none.
    static func account(second token: String?, renewal: RenewalFacts? = nil) -> [AppleAccount] {
        let purchases = [("1", "anna" as String?, nil as RenewalFacts?), ("2", token, renewal)].map {
            id, token, renewal in
            var facts = Sample.period(id)
            facts.appAccountToken = token
            facts.appTransactionId = "c"
            return OwnedPurchase(Sample.purchase(id, facts, renewal: renewal).subscription)
        }
        let claims =
            [claim("1", "anna", customer: "c", since: 1)]
            + (token.map { [claim("2", $0, customer: "c", since: 2)] } ?? [])
        return AppleAccount.all(in: claims, purchases: purchases)
    }

    static func entitled(_ accounts: [AppleAccount], to id: String, _ policy: SharingPolicy = .firstWins) -> [String] {
        accounts.filter { $0.keys.contains(Sample.key(id)) }.flatMap { $0.entitledTokens(to: Sample.key(id), policy) }
    }

    @Test(arguments: [SharingPolicy.firstWins, .refuse])
    func `A purchase belongs to the account that its newest transaction names, not to the first claimant`(
        policy: SharingPolicy
    ) {
        let accounts = Self.account(second: "bert")
        #expect(accounts.map(\.isShared) == [true])
        #expect(Self.entitled(accounts, to: "1", policy) == ["anna"])
        #expect(Self.entitled(accounts, to: "2", policy) == ["bert"])
        #expect(accounts.first?.entitledTokens(to: Sample.key("2"), policy, chosen: ["anna"]) == ["anna"])
    }

    @Test func `A purchase that names no account belongs to the first that claimed one`() {
        let accounts = Self.account(second: nil)
        #expect(Self.entitled(accounts, to: "2") == ["anna"])
    }

    @Test func `A purchase that another account resubscribed belongs to that account`() {
        var renewed = Sample.period("9", from: 40, to: 70)
        renewed.appAccountToken = "bert"
        let purchase = OwnedPurchase(Sample.purchase("1", Sample.period(), renewed).subscription)
        let accounts = AppleAccount.all(
            in: [Self.claim("1", "anna", since: 0), Self.claim("1", "bert", since: 40)], purchases: [purchase])
        #expect(Self.entitled(accounts, to: "1") == ["bert"])
    }

    @Test func `Set App Account Token moves a purchase before the next transaction names the account`() {
        var renewal = Sample.renewal(signed: 5)
        renewal.appAccountToken = "carl"
        let accounts = Self.account(second: "bert", renewal: renewal)
        #expect(Self.entitled(accounts, to: "2") == ["carl"])
        #expect(accounts.allSatisfy { $0.concerns("carl") })
    }

    @Test func `what Apple signed with a fraction of a millisecond claims since the same moment`() throws {
        var facts = Sample.period(signed: 1)
        facts.appAccountToken = "anna"
        facts.purchaseDate = Sample.day(0).addingTimeInterval(0.000_7)
        let claim = try #require(AccountClaim(Sample.news("DID_RENEW", signed: 2, transaction: facts)))
        #expect(claim.since == Sample.day(0))
        #expect(claim.toldAt == Sample.day(1))
    }

    @Test func `environments and apps never meet`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", customer: "c", since: 1),
            Self.claim("1", "bert", customer: "c", since: 1, environment: .sandbox),
            Self.claim("2", "carl", customer: "c", since: 1, bundleId: "com.example.woods"),
        ])
        #expect(accounts.map(\.isShared) == [false, false, false])
    }
}
