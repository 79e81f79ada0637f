import Contracts
import Foundation
import Subscriptions
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
        var generator = SplitMix(seed: 3)
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
        #expect(accounts.map { $0.entitledTokens(.refuse) } == [["anna"], ["bert"]])
    }

    @Test func `one Apple account that feeds two accounts of the app is seen, and the policy decides`() {
        let accounts = Self.accounts([
            Self.claim("2", "bert", customer: "c", since: 2), Self.claim("1", "anna", customer: "c", since: 1),
            Self.claim("1", "bert", since: 5),
        ])
        #expect(accounts.map(\.isShared) == [true])
        #expect(accounts.first?.entitledTokens(.firstWins) == ["anna"])
        #expect(accounts.first?.entitledTokens(.refuse) == [])
        #expect(accounts.first?.entitledTokens(.allow) == ["anna", "bert"])
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
        #expect(accounts.map { $0.entitledTokens(.firstWins) } == [[names[1]]])
        // An older purchase is not moved along.
        let older = Self.accounts([
            claim(names[0], told: 1), claim(names[1], told: 5), Self.claim("1", names[0], since: 0),
        ])
        #expect(older.map { $0.entitledTokens(.firstWins) } == [[names[0]]])
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
