import Contracts
import Foundation
import Subscriptions
import Testing

@Suite struct EntitlementsTests {
    static let levels = ServiceLevels(["gold": 1, "silver": 2])

    static func granted(_ purchases: [PurchaseSnapshot], on day: Double) -> [String] {
        let entitlements = Entitlements(of: purchases, levels: levels, at: Sample.day(day))
        let backwards = Entitlements(of: purchases.reversed(), levels: levels, at: Sample.day(day))
        #expect(entitlements == backwards)
        return entitlements.granted.map { "\($0.transaction?.productId ?? "") \($0.status)" }.sorted()
    }

    static func statuses(_ purchases: PurchaseSnapshot..., on day: Double) -> [EntitlementStatus] {
        Entitlements(of: purchases, levels: levels, at: Sample.day(day)).decisions.map(\.status)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var purchase: PurchaseSnapshot
        var day: Double
        var status: EntitlementStatus
        var until: Double?
        var testDescription: String { name }
    }

    static let retry = Sample.renewal(retry: true, signed: 30)

    static let cases: [Case] = [
        Case(name: "running", purchase: Sample.purchase("1", Sample.period()), day: 5, status: .active, until: 30),
        Case(
            name: "in grace",
            purchase: Sample.purchase(
                "1", Sample.period(), renewal: Sample.renewal(retry: true, grace: 46, signed: 30)), day: 40,
            status: .gracePeriod, until: 46),
        Case(
            name: "in retry", purchase: Sample.purchase("1", Sample.period(), renewal: retry), day: 40,
            status: .billingRetry),
        Case(name: "unheard of", purchase: Sample.purchase("1", Sample.period()), day: 40, status: .overdue),
        Case(
            name: "over", purchase: Sample.purchase("1", Sample.period(), renewal: Sample.renewal(on: false)), day: 40,
            status: .expired),
        Case(name: "refunded", purchase: Sample.purchase("1", Sample.period(revoked: 3)), day: 5, status: .revoked),
        Case(
            name: "replaced", purchase: Sample.purchase("1", Sample.period(isUpgraded: true)), day: 5, status: .upgraded
        ),
        Case(
            name: "a thing", purchase: Sample.purchase("1", Sample.purchase(.nonConsumable, "sword")), day: 5000,
            status: .owned),
        Case(
            name: "a thing, refunded",
            purchase: Sample.purchase("1", Sample.purchase(.nonConsumable, "sword", revoked: 2)),
            day: 5, status: .revoked),
        Case(
            name: "coins", purchase: Sample.purchase("1", Sample.purchase(.consumable, "coins")), day: 0,
            status: .consumed),
        Case(
            name: "a pass", purchase: Sample.purchase("1", Sample.purchase(.nonRenewing, "pass", to: 7)), day: 5,
            status: .nonRenewing, until: 7),
        Case(
            name: "a pass, ended", purchase: Sample.purchase("1", Sample.purchase(.nonRenewing, "pass", to: 7)), day: 9,
            status: .nonRenewingEnded),
        Case(
            name: "a pass, refunded", purchase: Sample.purchase("1", Sample.purchase(.nonRenewing, "pass", revoked: 1)),
            day: 5, status: .revoked),
        Case(name: "nothing", purchase: Sample.purchase("1"), day: 5, status: .unknown),
        Case(
            name: "the next period, charged early, was refunded and this one still runs",
            purchase: Sample.purchase(
                "1", Sample.period("1"), Sample.period("2", from: 29.5, to: 60, revoked: 29.6)),
            day: 29.8, status: .active, until: 30),
        Case(
            name: "a purchase cut the period short, and was refunded",
            purchase: Sample.purchase(
                "1", Sample.period("1"), Sample.period("2", from: 10, to: 40, signed: 12, revoked: 12)),
            day: 13, status: .revoked),
        Case(
            name: "the period before was refunded too",
            purchase: Sample.purchase(
                "1", Sample.period("1", revoked: 29), Sample.period("2", from: 29.5, to: 60, revoked: 29.6)),
            day: 29.8, status: .revoked),
    ]

    @Test(arguments: cases) func `A purchase by itself has the entitlement of its state`(given: Case) {
        let decisions = Entitlements(of: [given.purchase], levels: Self.levels, at: Sample.day(given.day)).decisions
        #expect(decisions.map(\.status) == [given.status])
        #expect(decisions.map(\.until) == [given.until.map(Sample.day)])
    }

    @Test func `The highest level of a group counts, and a grace period counts like any access`() {
        let silver = Sample.purchase("1", Sample.period("1", product: "silver"))
        let gold = Sample.purchase(
            "2", Sample.period("2", from: -40, to: -10), renewal: Sample.renewal(retry: true, grace: 6, signed: -10))
        #expect(Self.granted([silver, gold], on: 5) == ["gold gracePeriod"])
        #expect(Self.statuses(silver, gold, on: 5) == [.outranked, .gracePeriod])
        #expect(Self.granted([silver, gold], on: 7) == ["silver active"])
    }

    @Test func `A product without a level is outranked by the same product alone`() {
        let tin = Sample.purchase("1", Sample.period("1", to: 90, product: "tin"))
        let silver = Sample.purchase("2", Sample.period("2", product: "silver"))
        #expect(Self.granted([tin, silver], on: 5) == ["silver active", "tin active"])
        let later = Sample.purchase("3", Sample.period("3", to: 100, product: "tin"))
        #expect(Self.statuses(tin, silver, later, on: 5) == [.outranked, .active, .active])
    }

    @Test func `A bought product of one level counts before a family shared one, then the one that ends later`() {
        var shared = Sample.period("1", to: 90)
        shared.ownership = "FAMILY_SHARED"
        let family = Sample.purchase("1", shared)
        let own = Sample.purchase("2", Sample.period("2"))
        #expect(Self.statuses(family, own, on: 5) == [.outranked, .active])
        #expect(Self.statuses(Sample.purchase("3", Sample.period("3", to: 60)), own, on: 5) == [.outranked, .active])
        let decisions = Entitlements(of: [family], levels: Self.levels, at: Sample.day(5)).decisions
        #expect(decisions.map(\.isFamilyShared) == [true])
    }

    @Test func `Purchases of different groups, apps and environments do not compete`() {
        var elsewhere = Sample.purchase("3", Sample.period("3", product: "silver"))
        elsewhere.subscription.bundleId = "com.example.woods"
        let purchases = [
            Sample.purchase("1", Sample.period("1")), Sample.purchase("2", Sample.period("2", group: "woods")),
            elsewhere,
            Sample.purchase("1", Sample.period("1", product: "silver"), environment: .sandbox),
            Sample.purchase("4", Sample.period("4", group: nil)), Sample.purchase("5", Sample.period("5", group: nil)),
        ]
        #expect(Self.granted(purchases, on: 5).count == 6)
    }

    @Test func `The latest valid purchase of a non-renewing subscription is listed alone`() {
        let first = Sample.purchase("1", Sample.purchase(.nonRenewing, "pass", at: 0, to: 60))
        let second = Sample.purchase("2", Sample.purchase(.nonRenewing, "pass", at: 10, to: 17))
        let third = Sample.purchase("3", Sample.purchase(.nonRenewing, "pass", at: 20, to: 27, revoked: 21))
        let other = Sample.purchase("4", Sample.purchase(.nonRenewing, "ticket", at: 1))
        #expect(
            Self.granted([first, second, third, other], on: 25) == ["pass nonRenewingEnded", "ticket nonRenewing"])
        let entitlements = Entitlements(of: [first, second], levels: Self.levels, at: Sample.day(25))
        #expect(!entitlements.giveAccess(to: "pass"))
    }

    @Test func `A product owned twice is listed once`() {
        let purchases = ["1", "2"].map { Sample.purchase($0, Sample.purchase(.nonConsumable, "sword")) }
        #expect(Self.granted(purchases, on: 5) == ["sword owned"])
    }

    @Test func `Access is granted by product`() {
        let entitlements = Entitlements(
            of: [Sample.purchase("1", Sample.period())], levels: Self.levels, at: Sample.day(5))
        #expect(entitlements.giveAccess(to: "gold"))
        #expect(!entitlements.giveAccess(to: "silver"))
    }

    @Test func `Every status is reached`() {
        let reached = Set(Self.cases.map(\.status)).union([.outranked, .superseded])
        #expect(reached == Set(EntitlementStatus.allCases))
    }
}
