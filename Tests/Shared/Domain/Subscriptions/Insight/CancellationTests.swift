import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct CancellationTests {
    static func off(_ day: Double, _ transaction: TransactionFacts? = Sample.period()) -> PurchaseEvent {
        Sample.event("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_DISABLED", signed: day, transaction: transaction)
    }

    static func on(_ day: Double, _ transaction: TransactionFacts? = Sample.period()) -> PurchaseEvent {
        Sample.event("DID_CHANGE_RENEWAL_STATUS/AUTO_RENEW_ENABLED", signed: day, transaction: transaction)
    }

    @Test(arguments: [
        (0.5, Cancellation.Timing.atOnce), (10, .early), (20, .late), (29.5, .lastDay), (31, .afterEnd),
    ]) func `The timing is the part of the period in which auto-renew was switched off`(
        day: Double, timing: Cancellation.Timing
    ) {
        let cancellations = Cancellation.all(in: [Self.off(day)])
        #expect(cancellations.map(\.timing) == [timing])
        #expect(cancellations.map(\.secondsBeforeEnd) == [(30 - day) * 86_400])
    }

    @Test func `The first and last tenth of a period of minutes stand for its first and last day`() {
        let minute = 1.0 / 1440
        let period = Sample.period(to: 10 * minute)
        let timings = [0.5, 3, 7, 9.5].map { Cancellation.all(in: [Self.off($0 * minute, period)]).first?.timing }
        #expect(timings == [.atOnce, .early, .late, .lastDay])
    }

    @Test func `The timing is unknown where the period has no dates`() {
        #expect(Cancellation.all(in: [Self.off(3, nil)]).map(\.timing) == [.unknown])
        #expect(Cancellation.all(in: [Self.off(3, Sample.period(from: 9, to: 5))]).map(\.timing) == [.unknown])
    }

    @Test func `A switch back within the period undoes a cancellation, one in the next period does not`() {
        let next = Sample.period("2", from: 30, to: 60)
        let events = [Self.off(3), Self.on(4), Self.off(10), Self.on(31, next), Self.off(32, next)]
        let cancellations = Cancellation.all(in: events.reversed() + events)
        #expect(cancellations.map(\.isUndone) == [true, false, false])
        #expect(cancellations.map(\.at) == [3, 10, 32].map(Sample.day))
        #expect(RenewalSwitch.counts(in: events + events) == ["1": 3, "2": 2])
    }

    @Test func `What Apple switched off after a refund is no cancellation`() {
        let revoked = Sample.period(signed: 5, revoked: 5)
        let refund = Sample.event("REFUND", signed: 5, status: 5, transaction: revoked)
        #expect(Cancellation.all(in: [refund, Self.off(5.001, revoked)]).isEmpty)
        // Signed seconds before the refund.
        #expect(Cancellation.all(in: [refund, Self.off(5 - 10.0 / 86_400)]).isEmpty)
        #expect(Cancellation.all(in: [refund, Self.off(4)]).count == 1)
    }

    @Test func `Other event types are no switch`() {
        #expect(RenewalSwitch.all(in: [Sample.event("DID_RENEW", signed: 1, transaction: Sample.period())]).isEmpty)
    }
}
