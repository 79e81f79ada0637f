import Foundation
import Subscriptions
import Testing

@Suite struct LifecycleGapTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// What arrived, in Apple's order, without ``missing``.
        var told: [PurchaseEvent]
        var missing: PurchaseEvent
        var kind: LifecycleGap.Kind
        var testDescription: String { kind.rawValue + " before " + (told.last?.eventName ?? "") }
    }

    static let first = Sample.period("1", from: 0, to: 30)
    static let second = Sample.period("2", from: 30, to: 60)
    static let third = Sample.period("3", from: 60, to: 90)

    static let bought = Sample.news(
        "SUBSCRIBED/INITIAL_BUY", signed: 0, status: 1, transaction: first, renewal: Sample.renewal())
    static let renewed = Sample.news(
        "DID_RENEW", signed: 30, status: 1, transaction: second, renewal: Sample.renewal(signed: 30))
    static let renewedAgain = Sample.news(
        "DID_RENEW", signed: 60, status: 1, transaction: third, renewal: Sample.renewal(signed: 60))
    static let off = Sample.news(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 10, status: 1, transaction: first,
        renewal: Sample.renewal(on: false, signed: 10))
    static let on = Sample.news(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", signed: 12, status: 1, transaction: first,
        renewal: Sample.renewal(on: true, signed: 12))
    static let left = Sample.news(
        "EXPIRED/VOLUNTARY", signed: 30, status: 2, transaction: first, renewal: Sample.renewal(on: false, signed: 30))
    static let failed = Sample.news(
        "DID_FAIL_TO_RENEW", signed: 30, status: 3, transaction: first,
        renewal: Sample.renewal(retry: true, signed: 30))
    static let failedWithGrace = Sample.news(
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", signed: 30, status: 4, transaction: first,
        renewal: Sample.renewal(retry: true, grace: 46, signed: 30))
    static let graceEnded = Sample.news(
        "GRACE_PERIOD_EXPIRED", signed: 46, status: 3, transaction: first,
        renewal: Sample.renewal(retry: true, grace: 46, signed: 46))
    static let recovered = Sample.news(
        "DID_RENEW/BILLING_RECOVERY", signed: 50, status: 1, transaction: Sample.period("2", from: 50, to: 80),
        renewal: Sample.renewal(signed: 50))
    static let gaveUp = Sample.news(
        "EXPIRED/BILLING_RETRY", signed: 90, status: 2, transaction: first,
        renewal: Sample.renewal(on: false, signed: 90))
    static let returned = Sample.news(
        "SUBSCRIBED/RESUBSCRIBE", signed: 60, status: 1, transaction: third, renewal: Sample.renewal(signed: 60))
    static let extended = Sample.news(
        "RENEWAL_EXTENDED", signed: 10, status: 1, transaction: Sample.period("1", from: 0, to: 35),
        renewal: Sample.renewal(signed: 10))
    static let offLate = Sample.news(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 12, status: 1,
        transaction: Sample.period("1", from: 0, to: 35), renewal: Sample.renewal(on: false, signed: 12))
    static let offInThird = Sample.news(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 61, status: 1, transaction: third,
        renewal: Sample.renewal(on: false, signed: 61))

    static let cases: [Case] = [
        Case(told: [renewed], missing: bought, kind: .beginning),
        Case(told: [bought, renewedAgain], missing: renewed, kind: .period),
        Case(told: [bought, renewed, offInThird], missing: renewedAgain, kind: .period),
        Case(told: [bought, offLate], missing: extended, kind: .period),
        Case(told: [bought, left], missing: off, kind: .renewalTurnedOff),
        Case(told: [bought, off, renewed], missing: on, kind: .renewalTurnedOn),
        Case(told: [bought, recovered], missing: failed, kind: .billingFailure),
        Case(told: [bought, gaveUp], missing: failed, kind: .billingFailure),
        Case(told: [bought, graceEnded], missing: failedWithGrace, kind: .gracePeriod),
        Case(told: [bought, off, returned], missing: left, kind: .end),
        Case(told: [bought, off, left, offInThird], missing: returned, kind: .return),
    ]

    @Test(arguments: cases) func `a step nobody told is noticed, and gone once it is told`(given: Case) {
        let steps = LifecycleGap.all(in: given.told)
        #expect(steps.map(\.kind) == [given.kind])
        #expect(steps.first?.before == given.told.last?.version.notificationUUID)
        #expect(steps.first?.sentence.hasSuffix(".") == true)
        #expect(LifecycleGap.all(in: given.told + [given.missing]).isEmpty)
        #expect(LifecycleGap.all(in: [given.missing] + given.told.reversed()).isEmpty)
    }

    @Test func `every kind has a row`() {
        #expect(Set(Self.cases.map(\.kind)) == Set(LifecycleGap.Kind.allCases).subtracting([.transaction]))
    }

    @Test func `what is asked about two neighbours is what is asked about all`() {
        let news = [Self.bought, Self.renewedAgain, Self.offInThird]
        let pairs = zip([nil] + news.map(Optional.some), news).flatMap { LifecycleGap.between($0, $1) }
        #expect(pairs == LifecycleGap.all(in: news))
    }

    @Test func `a refund of an older period breaks no chain`() {
        let refund = Sample.news("REFUND", signed: 40, status: 1, transaction: Sample.period("1", revoked: 40))
        #expect(!refund.isStep)
        #expect(LifecycleGap.all(in: [Self.bought, Self.renewed, refund, Self.renewedAgain]).isEmpty)
    }

    @Test func `a refund that ended the subscription explains why it was bought again without an expiry`() {
        let refund = Sample.news("REFUND", signed: 5, status: 5, transaction: Sample.period("1", revoked: 5))
        #expect(LifecycleGap.all(in: [Self.bought, refund, Self.returned]).isEmpty)
    }

    @Test func `a renewal up to a day early or late misses nothing, and one much later does`() {
        for (from, kinds) in [(29.1, []), (30.9, []), (32, [LifecycleGap.Kind.period])] {
            let renewal = Sample.news("DID_RENEW", signed: 33, transaction: Sample.period("2", from: from, to: 60))
            #expect(LifecycleGap.all(in: [Self.bought, renewal]).map(\.kind) == kinds)
        }
    }

    @Test func `kinds that this build does not know are passed over`() {
        let news = Sample.news("DID_DREAM", signed: 5, transaction: Sample.period("7"))
        #expect(LifecycleGap.all(in: [Self.bought, news, Self.renewed]).isEmpty)
        #expect(LifecycleGap.between(nil, news).isEmpty)
    }
}
