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
            evidence: .signed,
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

    @Test func `Purchases with one app transaction id are one Apple account (W5)`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", customer: "c", since: 1), Self.claim("2", "anna", customer: "c", since: 2),
            Self.claim("3", "bert", since: 3),
        ])
        #expect(accounts.map(\.keys) == [[Sample.key("1"), Sample.key("2")], [Sample.key("3")]])
        #expect(accounts.map(\.isShared) == [false, false])
        #expect(accounts.map { $0.entitledTokens(to: $0.keys[0], .refuse) } == [["anna"], ["bert"]])
    }

    @Test func `An Apple account that two accounts of the app use is shared, and the policy decides (W6, W7)`() {
        let accounts = Self.accounts([
            Self.claim("2", "bert", customer: "c", since: 2), Self.claim("1", "anna", customer: "c", since: 1),
            Self.claim("1", "bert", since: 5),
        ])
        #expect(accounts.map(\.isShared) == [true])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .firstWins) == ["anna"])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .refuse) == [])
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .allow) == ["anna", "bert"])
    }

    @Test func `A purchase claimed with and without an app transaction id joins the others`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", since: 1), Self.claim("2", "bert", customer: "c", since: 2),
            Self.claim("1", "anna", customer: "c", since: 3),
        ])
        #expect(accounts.map(\.appAccountTokens) == [["anna", "bert"]])
    }

    @Test func `An upload of another customer's purchase is a claim like any other`() {
        let accounts = Self.accounts([Self.claim("1", "anna", since: 1), Self.claim("1", "bert", since: 2)])
        #expect(accounts.map(\.isShared) == [true])
    }

    @Test func `A claim follows a migration, where Apple names no account and no customer`() {
        var facts = Sample.period("9", from: 10, to: 40)
        facts.previousOriginalTransactionId = "1"
        let sample = Sample.purchase("9", facts)
        let migrated = OwnedPurchase(
            sample.subscription,
            [TransactionVersion(facts, version: EventVersion(signedDate: Sample.day(10), notificationUUID: UUID()))])
        let accounts = AppleAccount.all(in: [Self.claim("1", "anna", since: 1)], purchases: [migrated])
        #expect(Self.entitled(accounts, to: "1") == ["anna"] && Self.entitled(accounts, to: "9") == ["anna"])
    }

    /// A restore of what is left of the purchase before is no restore of the one that is in use.
    @Test(arguments: [
        (5.0, nil as String?, "bert"), (5, "RENEWAL", "bert"), (5, "PURCHASE", "anna"), (15, nil, "anna"),
    ])
    func `A restore follows a migration that comes after it, until the purchase is bought again (O5)`(
        day: Double, reason: String?, holder: String
    ) {
        var facts = Sample.period("9", from: 10, to: 40)
        facts.previousOriginalTransactionId = "1"
        facts.appAccountToken = reason.map { _ in "anna" }
        facts.reason = reason
        let sample = Sample.purchase("9", facts)
        let migrated = OwnedPurchase(
            sample.subscription,
            [TransactionVersion(facts, version: EventVersion(signedDate: Sample.day(10), notificationUUID: UUID()))])
        let claims = [Self.claim("1", "anna", since: 1), Self.claim("1", "bert", since: 2)]
        let accounts = AppleAccount.all(
            in: claims, purchases: [migrated], moves: [Self.move(to: "bert", on: day), Self.move(to: "anna", on: 20)])
        #expect(Self.entitled(accounts, to: "9") == [holder])
        #expect(Self.entitled(accounts, to: "1") == ["anna"])
    }

    @Test(arguments: [["anna", "bert"], ["bert", "anna"]])
    func `A purchase that Apple moved to another account belongs to that account, whatever the tokens`(
        names: [String]
    ) {
        func claim(_ token: String, signed day: Double) -> AccountClaim {
            var claim = Self.claim("1", token, since: 1)
            claim.signedAt = Sample.day(day)
            return claim
        }
        let accounts = Self.accounts([claim(names[0], signed: 1), claim(names[1], signed: 5)])
        #expect(accounts.map { $0.entitledTokens(to: Sample.key("1"), .firstWins) } == [[names[1]]])
        // An older purchase is not moved along.
        let older = Self.accounts([
            claim(names[0], signed: 1), claim(names[1], signed: 5), Self.claim("1", names[0], since: 0),
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
    func `A purchase belongs to the account that its newest transaction names, not to the first claimant (W4)`(
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

    @Test func `A purchase that names an account is shared only where the policy lets all share (W3)`() {
        let accounts = Self.account(second: "bert")
        #expect(Self.entitled(accounts, to: "2", .allow) == ["anna", "bert"])
    }

    static func move(to token: String?, on day: Double, isOfLapsed: Bool = false) -> PurchaseMove {
        PurchaseMove(
            key: Sample.key("1"), to: token, movedAt: Sample.day(day), isCounted: true, isOfLapsed: isOfLapsed)
    }

    @Test(arguments: SharingPolicy.allCases)
    func `A move counts whatever the policy is later, but where it lets all share (W2)`(policy: SharingPolicy) {
        let claims = [Self.claim("1", "anna", since: 1), Self.claim("1", "bert", since: 2)]
        let accounts = AppleAccount.all(
            in: claims, moves: [Self.move(to: "anna", on: 4), Self.move(to: "bert", on: 3)])
        let expected = policy == .allow ? ["anna", "bert"] : ["bert"]
        #expect(Self.entitled(accounts, to: "1", policy) == expected, "the one that was accepted last")
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), policy, chosen: ["anna"]) == ["anna"])
    }

    @Test func `A move to an account that was erased is over`() {
        let claims = [Self.claim("1", "anna", since: 1)]
        let accounts = AppleAccount.all(in: claims, moves: [Self.move(to: "bert", on: 3), Self.move(to: nil, on: 4)])
        #expect(Self.entitled(accounts, to: "1") == ["anna"])
    }

    @Test(arguments: [("PURCHASE", "anna", "anna"), ("PURCHASE", nil, "bert"), ("RENEWAL", "anna", "bert")])
    func `A purchase after a move gives it to the account that Apple names, a renewal moves nothing (O5)`(
        reason: String, named: String?, holder: String
    ) {
        var facts = Sample.period("9", from: 40, to: 70)
        facts.appAccountToken = named
        facts.reason = reason
        let sample = Sample.purchase("1", Sample.period(), facts)
        let purchase = OwnedPurchase(
            sample.subscription,
            [TransactionVersion(facts, version: EventVersion(signedDate: Sample.day(40), notificationUUID: UUID()))])
        let claims = [Self.claim("1", "anna", since: 0), Self.claim("1", "bert", since: 2)]
        func holders(movedOn day: Double) -> [String] {
            Self.entitled(
                AppleAccount.all(in: claims, purchases: [purchase], moves: [Self.move(to: "bert", on: day)]), to: "1")
        }
        #expect(holders(movedOn: 39) == [holder])
        #expect(holders(movedOn: 41) == ["bert"])
    }

    /// The restore found it lapsed, because Apple's notification of the purchase had not come yet.
    @Test func `A purchase that was paid for when it moved as a lapsed one is the account's that Apple names (O5)`() {
        var facts = Sample.period("9", from: 40, to: 70)
        facts.appAccountToken = "anna"
        facts.reason = "PURCHASE"
        let claims = [Self.claim("1", "anna", since: 0), Self.claim("1", "bert", since: 2)]
        func holders(movedOn day: Double, isOfLapsed: Bool = true) -> [String] {
            let purchase = OwnedPurchase(
                Sample.purchase("1", Sample.period(), facts).subscription,
                [
                    TransactionVersion(
                        facts, version: EventVersion(signedDate: Sample.day(40), notificationUUID: UUID()))
                ])
            let move = Self.move(to: "bert", on: day, isOfLapsed: isOfLapsed)
            return Self.entitled(AppleAccount.all(in: claims, purchases: [purchase], moves: [move]), to: "1")
        }
        #expect(holders(movedOn: 41) == ["anna"])
        #expect(holders(movedOn: 41, isOfLapsed: false) == ["bert"])
        #expect(holders(movedOn: 70) == ["bert"])
        // It had lapsed: the money was given back, or another purchase took its place and lapsed.
        facts.revocationDate = Sample.day(41)
        #expect(holders(movedOn: 41) == ["bert"])
        facts.revocationDate = nil
        facts.isUpgraded = true
        #expect(holders(movedOn: 41) == ["bert"])
    }

    /// The restore found it refunded, and Apple reversed the refund since.
    @Test(arguments: [ProductKind.nonConsumable, .consumable])
    func `What was bought for ever is the account's that Apple names when its refund is reversed (O5)`(
        kind: ProductKind
    ) {
        let claims = [Self.claim("1", "anna", since: 0), Self.claim("1", "bert", since: 2)]
        func holders(refunded day: Double?) -> [String] {
            var facts = Sample.purchase(kind, "gold", revoked: day)
            facts.appAccountToken = "anna"
            facts.reason = "PURCHASE"
            let purchase = OwnedPurchase(
                Sample.purchase("1", facts).subscription,
                [TransactionVersion(facts, version: EventVersion(signedDate: Sample.day(0), notificationUUID: UUID()))])
            let move = Self.move(to: "bert", on: 10, isOfLapsed: true)
            return Self.entitled(AppleAccount.all(in: claims, purchases: [purchase], moves: [move]), to: "1")
        }
        #expect(holders(refunded: 5) == ["bert"])
        #expect(holders(refunded: nil) == ["anna"])
    }

    /// Apple signs a replaced transaction again for who asks alone: what is known of it says that it runs on.
    @Test func `A purchase that another one replaced is not paid for after the end of that one`() {
        func bought(_ id: String, from: Double, to: Double) -> TransactionVersion {
            var facts = Sample.period(id, from: from, to: to)
            facts.appAccountToken = "anna"
            facts.reason = "PURCHASE"
            return TransactionVersion(
                facts, version: EventVersion(signedDate: Sample.day(from), notificationUUID: UUID()))
        }
        let (year, month) = (bought("8", from: 0, to: 365), bought("9", from: 10, to: 40))
        let claims = [Self.claim("1", "anna", since: 0), Self.claim("1", "bert", since: 2)]
        func holders(movedOn day: Double, _ transactions: [TransactionVersion]) -> [String] {
            let purchase = OwnedPurchase(
                Sample.purchase("1", Sample.period(), month.facts).subscription, transactions)
            let move = Self.move(to: "bert", on: day, isOfLapsed: true)
            return Self.entitled(AppleAccount.all(in: claims, purchases: [purchase], moves: [move]), to: "1")
        }
        #expect(holders(movedOn: 30, [month, year]) == ["anna"])
        #expect(holders(movedOn: 100, [year]) == ["anna"])
        #expect(holders(movedOn: 100, [year, month]) == ["bert"])
    }

    @Test func `Stronger evidence comes before an earlier claim, and of equal evidence the earlier counts (W7)`() {
        var claims: [AccountClaim] = []
        for (index, evidence) in ClaimEvidence.allCases.reversed().enumerated() {
            var claim = Self.claim("1", evidence.rawValue, since: Double(index))
            claim.evidence = evidence
            claims.append(claim)
            #expect(Self.entitled(Self.accounts(claims), to: "1") == [evidence.rawValue])
        }
        var later = Self.claim("1", "later", since: 90)
        later.evidence = .apple
        #expect(Self.entitled(Self.accounts(claims + [later]), to: "1") == ["apple"])
    }

    @Test(arguments: SharingPolicy.allCases)
    func `An old copy blocks no other account and shares with none (W8)`(policy: SharingPolicy) {
        var old = Self.claim("1", "old", since: 1)
        old.evidence = .old
        var second = Self.claim("1", "second", since: 2)
        second.evidence = .old
        let fresh = Self.claim("1", "fresh", since: 3)
        #expect(Self.entitled(Self.accounts([old, second]), to: "1", policy) == ["old"])
        #expect(Self.entitled(Self.accounts([old, second, fresh]), to: "1", policy) == ["fresh"])
    }

    @Test func `Of the accounts that share an Apple account as many are served as may claim it, and the owner (O6)`() {
        var owned = Sample.period()
        owned.appAccountToken = "owner"
        let purchase = OwnedPurchase(Sample.purchase("1", owned).subscription)
        var claims = (1...5).map { Self.claim("1", "\($0)", since: Double($0)) }
        claims[4].evidence = .device
        let accounts = AppleAccount.all(in: claims, purchases: [purchase])
        #expect(accounts.count == 1)
        #expect(accounts.first?.entitledTokens(to: Sample.key("1"), .allow, most: 3) == ["5", "1", "2", "owner"])
        let denied = accounts.first?.accounts(.allow, most: 3).filter { !$0.mayUse } ?? []
        #expect(denied.map(\.appAccountToken) == ["3", "4"] && denied.allSatisfy { $0.because == .otherClaim })
    }

    @Test func `An upload claims an Apple account unless as many others as may have evidence as strong`() throws {
        var owned = Sample.period()
        owned.appAccountToken = "owner"
        let purchase = OwnedPurchase(Sample.purchase("1", owned).subscription)
        let claims = (1...3).map { Self.claim("1", "\($0)", since: Double($0)) }
        let moves = [Self.move(to: "mover", on: 4)]
        let account = try #require(AppleAccount.all(in: claims, purchases: [purchase], moves: moves).first)
        func admits(_ token: String, _ evidence: ClaimEvidence, most: Int = 3, chosen: Set<String> = []) -> Bool {
            var claim = Self.claim("1", token, since: 9)
            claim.evidence = evidence
            return account.admits(claim, most: most, chosen: chosen)
        }
        #expect(!admits("4", .signed) && !admits("4", .old) && admits("4", .signed, most: 4))
        #expect(admits("4", .device) && admits("4", .operator, most: 0))
        // Those that are in, that Apple names, that restored it, and that an operator chose.
        #expect(admits("1", .signed, most: 1) && admits("1", .old, most: 1) && !admits("1", .device, most: 0))
        #expect(admits("owner", .signed) && admits("mover", .signed) && admits("4", .signed, chosen: ["4"]))
    }

    @Test func `A purchase that another account resubscribed belongs to that account (W4)`() {
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
        renewal.signedDate = Sample.day(-1)
        #expect(Self.entitled(Self.account(second: "bert", renewal: renewal), to: "2") == ["bert"])
    }

    /// Such an owner has no claim: Set App Account Token named it, and no transaction has yet.
    @Test(arguments: SharingPolicy.allCases)
    func `An operator's choice of the owner leaves out all others, also under the policy that lets all share (W1)`(
        policy: SharingPolicy
    ) {
        var renewal = Sample.renewal(signed: 5)
        renewal.appAccountToken = "carl"
        let accounts = Self.account(second: "bert", renewal: renewal)
        #expect(accounts.first?.entitledTokens(to: Sample.key("2"), policy, chosen: ["carl"]) == ["carl"])
    }

    @Test func `A claim signed with a fraction of a millisecond has the same time`() throws {
        var facts = Sample.period(signed: 1)
        facts.appAccountToken = "anna"
        facts.purchaseDate = Sample.day(0).addingTimeInterval(0.000_7)
        let claim = try #require(AccountClaim(Sample.event("DID_RENEW", signed: 2, transaction: facts)))
        #expect(claim.since == Sample.day(0))
        #expect(claim.signedAt == Sample.day(1))
    }

    @Test func `Purchases of different environments and apps are different Apple accounts`() {
        let accounts = Self.accounts([
            Self.claim("1", "anna", customer: "c", since: 1),
            Self.claim("1", "bert", customer: "c", since: 1, environment: .sandbox),
            Self.claim("2", "carl", customer: "c", since: 1, bundleId: "com.example.woods"),
        ])
        #expect(accounts.map(\.isShared) == [false, false, false])
    }
}
