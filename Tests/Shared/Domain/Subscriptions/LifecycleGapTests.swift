import Foundation
import Subscriptions
import Testing

@Suite struct LifecycleGapTests {
    struct Case: Sendable, CustomTestStringConvertible {
        /// The events that arrived, in Apple's order, without ``missing``.
        var arrived: [PurchaseEvent]
        var missing: PurchaseEvent
        var kind: LifecycleGap.Kind
        var testDescription: String { kind.rawValue + " before " + (arrived.last?.eventName ?? "") }
    }

    static let first = Sample.period("1", from: 0, to: 30)
    static let second = Sample.period("2", from: 30, to: 60)
    static let third = Sample.period("3", from: 60, to: 90)

    static let bought = Sample.event(
        "SUBSCRIBED/INITIAL_BUY", signed: 0, status: 1, transaction: first, renewal: Sample.renewal())
    static let renewed = Sample.event(
        "DID_RENEW", signed: 30, status: 1, transaction: second, renewal: Sample.renewal(signed: 30))
    static let renewedAgain = Sample.event(
        "DID_RENEW", signed: 60, status: 1, transaction: third, renewal: Sample.renewal(signed: 60))
    static let off = Sample.event(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 10, status: 1, transaction: first,
        renewal: Sample.renewal(on: false, signed: 10))
    static let on = Sample.event(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", signed: 12, status: 1, transaction: first,
        renewal: Sample.renewal(on: true, signed: 12))
    static let left = Sample.event(
        "EXPIRED/VOLUNTARY", signed: 30, status: 2, transaction: first, renewal: Sample.renewal(on: false, signed: 30))
    static let failed = Sample.event(
        "DID_FAIL_TO_RENEW", signed: 30, status: 3, transaction: first,
        renewal: Sample.renewal(retry: true, signed: 30))
    static let failedWithGrace = Sample.event(
        "DID_FAIL_TO_RENEW/GRACE_PERIOD", signed: 30, status: 4, transaction: first,
        renewal: Sample.renewal(retry: true, grace: 46, signed: 30))
    static let graceEnded = Sample.event(
        "GRACE_PERIOD_EXPIRED", signed: 46, status: 3, transaction: first,
        renewal: Sample.renewal(retry: true, grace: 46, signed: 46))
    static let recovered = Sample.event(
        "DID_RENEW/BILLING_RECOVERY", signed: 50, status: 1, transaction: Sample.period("2", from: 50, to: 80),
        renewal: Sample.renewal(signed: 50))
    static let gaveUp = Sample.event(
        "EXPIRED/BILLING_RETRY", signed: 90, status: 2, transaction: first,
        renewal: Sample.renewal(on: false, signed: 90))
    static let returned = Sample.event(
        "SUBSCRIBED/RESUBSCRIBE", signed: 60, status: 1, transaction: third, renewal: Sample.renewal(signed: 60))
    static let extended = Sample.event(
        "RENEWAL_EXTENDED", signed: 10, status: 1, transaction: Sample.period("1", from: 0, to: 35),
        renewal: Sample.renewal(signed: 10))
    static let offLate = Sample.event(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 12, status: 1,
        transaction: Sample.period("1", from: 0, to: 35), renewal: Sample.renewal(on: false, signed: 12))
    static let offInThird = Sample.event(
        "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: 61, status: 1, transaction: third,
        renewal: Sample.renewal(on: false, signed: 61))

    static let cases: [Case] = [
        Case(arrived: [renewed], missing: bought, kind: .beginning),
        Case(arrived: [bought, renewedAgain], missing: renewed, kind: .period),
        Case(arrived: [bought, renewed, offInThird], missing: renewedAgain, kind: .period),
        Case(arrived: [bought, offLate], missing: extended, kind: .period),
        Case(arrived: [bought, left], missing: off, kind: .renewalTurnedOff),
        Case(arrived: [bought, off, renewed], missing: on, kind: .renewalTurnedOn),
        Case(arrived: [bought, recovered], missing: failed, kind: .billingFailure),
        Case(arrived: [bought, gaveUp], missing: failed, kind: .billingFailure),
        Case(arrived: [bought, graceEnded], missing: failedWithGrace, kind: .gracePeriod),
        Case(arrived: [bought, off, returned], missing: left, kind: .end),
        Case(arrived: [bought, off, left, offInThird], missing: returned, kind: .return),
    ]

    @Test(arguments: cases) func `A missing lifecycle event is a gap until its notification arrives`(given: Case) {
        let gaps = LifecycleGap.all(in: given.arrived)
        #expect(gaps.map(\.kind) == [given.kind])
        #expect(gaps.first?.before == given.arrived.last?.version.notificationUUID)
        #expect(gaps.first?.sentence.hasSuffix(".") == true)
        #expect(LifecycleGap.all(in: given.arrived + [given.missing]).isEmpty)
        #expect(LifecycleGap.all(in: [given.missing] + given.arrived.reversed()).isEmpty)
    }

    @Test func `Every kind of gap has a case`() {
        #expect(Set(Self.cases.map(\.kind)) == Set(LifecycleGap.Kind.allCases).subtracting([.transaction]))
    }

    @Test func `Gaps between neighbours are the gaps of the whole history`() {
        let events = [Self.bought, Self.renewedAgain, Self.offInThird]
        let pairs = zip([nil] + events.map(Optional.some), events).flatMap { LifecycleGap.between($0, $1) }
        #expect(pairs == LifecycleGap.all(in: events))
    }

    @Test func `A refund of an older period leaves no gap`() {
        let refund = Sample.event("REFUND", signed: 40, status: 1, transaction: Sample.period("1", revoked: 40))
        #expect(!refund.isLifecycleEvent)
        #expect(LifecycleGap.all(in: [Self.bought, Self.renewed, refund, Self.renewedAgain]).isEmpty)
    }

    @Test func `A refund that ended the subscription explains a resubscription without an expiry`() {
        let refund = Sample.event("REFUND", signed: 5, status: 5, transaction: Sample.period("1", revoked: 5))
        #expect(LifecycleGap.all(in: [Self.bought, refund, Self.returned]).isEmpty)
    }

    @Test func `A switch of auto-renew a moment after an addition of seats counts`() {
        let seats = Sample.seats(Sample.period("2", from: 12, to: 30, signed: 12))
        let on = Sample.event(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", signed: 12, status: 1, transaction: seats,
            renewal: Sample.renewal(on: true, signed: 12))
        #expect(LifecycleGap.all(in: [Self.bought, Self.off, on, Self.renewed]).isEmpty)
    }

    @Test func `A switch of auto-renew that Apple signed before the resubscription leaves no gap`() {
        let on = Sample.event(
            "DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", signed: 60.01, status: 1, transaction: Self.third,
            renewal: Sample.renewal(on: true, signed: 60.01))
        let returned = Sample.event(
            "SUBSCRIBED/RESUBSCRIBE", signed: 60.02, status: 1, transaction: Self.third,
            renewal: Sample.renewal(signed: 60.02))
        #expect(LifecycleGap.all(in: [Self.bought, Self.off, Self.left, on, returned]).isEmpty)
    }

    @Test func `Auto-renew that is off in the first minute after a purchase is switched on without a gap`() {
        let bought = Sample.event(
            "SUBSCRIBED/INITIAL_BUY", signed: 0, status: 1, transaction: Self.first, renewal: Sample.renewal(on: false))
        #expect(LifecycleGap.all(in: [bought, Self.renewed]).isEmpty)
    }

    @Test func `A status without access before the period of its transaction begins is no end`() {
        let paidAhead = Sample.event(
            "DID_CHANGE_RENEWAL_PREF", signed: 29.5, status: 2,
            transaction: Sample.period("2", from: 30, to: 60, signed: 29.5), renewal: Sample.renewal(signed: 29.5))
        #expect(LifecycleGap.between(paidAhead, Self.renewedAgain).isEmpty)
    }

    @Test func `An extension of a period to which seats were added leaves no gap`() {
        let seats = Sample.seats(Sample.period("2", from: 8, to: 40, signed: 10))
        let extended = Sample.event("RENEWAL_EXTENDED", signed: 10, status: 1, transaction: seats)
        #expect(LifecycleGap.between(Self.bought, extended).isEmpty)
        let next = Sample.event(
            "RENEWAL_EXTENDED", signed: 40, status: 1,
            transaction: Sample.seats(Sample.period("2", from: 30, to: 70, signed: 40)))
        #expect(LifecycleGap.between(Self.bought, next).map(\.kind) == [.period])
    }

    @Test func `A renewal up to a day early or late leaves no gap, and one much later does`() {
        for (from, kinds) in [(29.1, []), (30.9, []), (32, [LifecycleGap.Kind.period])] {
            let renewal = Sample.event("DID_RENEW", signed: 33, transaction: Sample.period("2", from: from, to: 60))
            #expect(LifecycleGap.all(in: [Self.bought, renewal]).map(\.kind) == kinds)
        }
    }

    @Test func `Event types that this build does not know leave no gap`() {
        let event = Sample.event("DID_DREAM", signed: 5, transaction: Sample.period("7"))
        #expect(LifecycleGap.all(in: [Self.bought, event, Self.renewed]).isEmpty)
        #expect(LifecycleGap.between(nil, event).isEmpty)
    }
}
