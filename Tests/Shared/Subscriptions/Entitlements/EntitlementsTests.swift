import Contracts
import Foundation
import Subscriptions
import Testing

@Suite struct EntitlementsTests {
    static let levels = GroupLevels(["gold": 1, "silver": 2])

    static func granted(_ holdings: [Holding], on day: Double) -> [String] {
        let entitlements = Entitlements(of: holdings, levels: levels, at: Sample.day(day))
        let backwards = Entitlements(of: holdings.reversed(), levels: levels, at: Sample.day(day))
        #expect(entitlements == backwards)
        return entitlements.granted.map { "\($0.transaction?.productId ?? "") \($0.verdict)" }.sorted()
    }

    static func verdicts(_ holdings: Holding..., on day: Double) -> [Verdict] {
        Entitlements(of: holdings, levels: levels, at: Sample.day(day)).rulings.map(\.verdict)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var holding: Holding
        var day: Double
        var verdict: Verdict
        var until: Double?
        var testDescription: String { name }
    }

    static let retry = Sample.renewal(retry: true, signed: 30)

    static let cases: [Case] = [
        Case(name: "running", holding: Sample.holding("1", Sample.period()), day: 5, verdict: .active, until: 30),
        Case(
            name: "in grace",
            holding: Sample.holding(
                "1", Sample.period(), renewal: Sample.renewal(retry: true, grace: 46, signed: 30)), day: 40,
            verdict: .gracePeriod, until: 46),
        Case(
            name: "in retry", holding: Sample.holding("1", Sample.period(), renewal: retry), day: 40,
            verdict: .billingRetry),
        Case(name: "unheard of", holding: Sample.holding("1", Sample.period()), day: 40, verdict: .overdue),
        Case(
            name: "over", holding: Sample.holding("1", Sample.period(), renewal: Sample.renewal(on: false)), day: 40,
            verdict: .expired),
        Case(name: "refunded", holding: Sample.holding("1", Sample.period(revoked: 3)), day: 5, verdict: .revoked),
        Case(
            name: "replaced", holding: Sample.holding("1", Sample.period(isUpgraded: true)), day: 5, verdict: .upgraded),
        Case(
            name: "a thing", holding: Sample.holding("1", Sample.purchase(.nonConsumable, "sword")), day: 5000,
            verdict: .owned),
        Case(
            name: "a thing, refunded",
            holding: Sample.holding("1", Sample.purchase(.nonConsumable, "sword", revoked: 2)),
            day: 5, verdict: .revoked),
        Case(
            name: "coins", holding: Sample.holding("1", Sample.purchase(.consumable, "coins")), day: 0,
            verdict: .consumed),
        Case(
            name: "a pass", holding: Sample.holding("1", Sample.purchase(.nonRenewing, "pass", to: 7)), day: 5,
            verdict: .nonRenewing, until: 7),
        Case(
            name: "a pass, ended", holding: Sample.holding("1", Sample.purchase(.nonRenewing, "pass", to: 7)), day: 9,
            verdict: .nonRenewingEnded),
        Case(
            name: "a pass, refunded", holding: Sample.holding("1", Sample.purchase(.nonRenewing, "pass", revoked: 1)),
            day: 5, verdict: .revoked),
        Case(name: "nothing", holding: Sample.holding("1"), day: 5, verdict: .unknown),
        Case(
            name: "the next period, charged early, was refunded and this one still runs",
            holding: Sample.holding(
                "1", Sample.period("1"), Sample.period("2", from: 29.5, to: 60, revoked: 29.6)),
            day: 29.8, verdict: .active, until: 30),
        Case(
            name: "a purchase cut the period short, and was refunded",
            holding: Sample.holding("1", Sample.period("1"), Sample.period("2", from: 10, to: 40, revoked: 12)),
            day: 13, verdict: .revoked),
        Case(
            name: "the period before was refunded too",
            holding: Sample.holding(
                "1", Sample.period("1", revoked: 29), Sample.period("2", from: 29.5, to: 60, revoked: 29.6)),
            day: 29.8, verdict: .revoked),
    ]

    @Test(arguments: cases) func `one purchase by itself`(given: Case) {
        let rulings = Entitlements(of: [given.holding], levels: Self.levels, at: Sample.day(given.day)).rulings
        #expect(rulings.map(\.verdict) == [given.verdict])
        #expect(rulings.map(\.until) == [given.until.map(Sample.day)])
    }

    @Test func `of one group the highest level counts, and grace counts like any access`() {
        let silver = Sample.holding("1", Sample.period("1", product: "silver"))
        let gold = Sample.holding(
            "2", Sample.period("2", from: -40, to: -10), renewal: Sample.renewal(retry: true, grace: 6, signed: -10))
        #expect(Self.granted([silver, gold], on: 5) == ["gold gracePeriod"])
        #expect(Self.verdicts(silver, gold, on: 5) == [.outranked, .gracePeriod])
        #expect(Self.granted([silver, gold], on: 7) == ["silver active"])
    }

    @Test func `a product without a level ranks below all that have one`() {
        let tin = Sample.holding("1", Sample.period("1", to: 90, product: "tin"))
        let silver = Sample.holding("2", Sample.period("2", product: "silver"))
        #expect(Self.granted([tin, silver], on: 5) == ["silver active"])
    }

    @Test func `at one level what was bought counts before what the family shares, then what lasts longer`() {
        var shared = Sample.period("1", to: 90)
        shared.ownership = "FAMILY_SHARED"
        let family = Sample.holding("1", shared)
        let own = Sample.holding("2", Sample.period("2"))
        #expect(Self.verdicts(family, own, on: 5) == [.outranked, .active])
        #expect(Self.verdicts(Sample.holding("3", Sample.period("3", to: 60)), own, on: 5) == [.outranked, .active])
        let rulings = Entitlements(of: [family], levels: Self.levels, at: Sample.day(5)).rulings
        #expect(rulings.map(\.isFamilyShared) == [true])
    }

    @Test func `groups, apps and environments do not compete`() {
        var elsewhere = Sample.holding("3", Sample.period("3", product: "silver"))
        elsewhere.subscription.bundleId = "com.example.woods"
        let holdings = [
            Sample.holding("1", Sample.period("1")), Sample.holding("2", Sample.period("2", group: "woods")), elsewhere,
            Sample.holding("1", Sample.period("1", product: "silver"), environment: .sandbox),
            Sample.holding("4", Sample.period("4", group: nil)), Sample.holding("5", Sample.period("5", group: nil)),
        ]
        #expect(Self.granted(holdings, on: 5).count == 6)
    }

    @Test func `of a non-renewing subscription only the latest that stands is listed`() {
        let first = Sample.holding("1", Sample.purchase(.nonRenewing, "pass", at: 0, to: 60))
        let second = Sample.holding("2", Sample.purchase(.nonRenewing, "pass", at: 10, to: 17))
        let third = Sample.holding("3", Sample.purchase(.nonRenewing, "pass", at: 20, to: 27, revoked: 21))
        let other = Sample.holding("4", Sample.purchase(.nonRenewing, "ticket", at: 1))
        #expect(
            Self.granted([first, second, third, other], on: 25) == ["pass nonRenewingEnded", "ticket nonRenewing"])
        let entitlements = Entitlements(of: [first, second], levels: Self.levels, at: Sample.day(25))
        #expect(!entitlements.giveAccess(to: "pass"))
    }

    @Test func `a thing owned twice is listed once`() {
        let holdings = ["1", "2"].map { Sample.holding($0, Sample.purchase(.nonConsumable, "sword")) }
        #expect(Self.granted(holdings, on: 5) == ["sword owned"])
    }

    @Test func `access is asked by product`() {
        let entitlements = Entitlements(
            of: [Sample.holding("1", Sample.period())], levels: Self.levels, at: Sample.day(5))
        #expect(entitlements.giveAccess(to: "gold"))
        #expect(!entitlements.giveAccess(to: "silver"))
    }

    @Test func `every verdict is reached`() {
        let reached = Set(Self.cases.map(\.verdict)).union([.outranked, .superseded])
        #expect(reached == Set(Verdict.allCases))
    }
}
