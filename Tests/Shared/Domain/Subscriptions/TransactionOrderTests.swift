import Contracts
import Foundation
import Subscriptions
import TestSupport
import Testing

@Suite struct TransactionOrderTests {
    static func current(_ events: PurchaseEvent...) -> TransactionFacts? {
        let orders = [events, events.reversed()]
        let states = orders.map { order in
            order.reduce(nil as Subscription?) { Subscription.applying($1, known: $0).subscription }
        }
        #expect(states[0] == states[1])
        return states[0]?.transaction
    }

    @Test func `A refund of an older period leaves the current transaction`() {
        let renewed = Sample.event(
            "DID_RENEW", signed: 30, status: 1, transaction: Sample.period("2", from: 30, to: 60))
        let refund = Sample.event(
            "REFUND", signed: 35, status: 1, transaction: Sample.period("1", signed: 35, revoked: 35))
        #expect(Self.current(renewed, refund)?.transactionId == "2")
        #expect(Sample.state(renewed, refund)?.state(at: Sample.day(40)) == .active)
    }

    @Test func `A refund revokes and its reversal reinstates`() {
        let bought = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, status: 1, transaction: Sample.period())
        let refund = Sample.event("REFUND", signed: 5, status: 5, transaction: Sample.period(signed: 5, revoked: 5))
        let reversal = Sample.event("REFUND_REVERSED", signed: 8, status: 1, transaction: Sample.period(signed: 8))
        #expect(Sample.state(bought, refund)?.state(at: Sample.day(6)) == .revoked)
        #expect(Self.current(bought, refund, reversal)?.revocationDate == nil)
        #expect(Sample.state(reversal, refund, bought)?.state(at: Sample.day(9)) == .active)
    }

    @Test func `Of one transaction the version signed later counts, also in a notification signed before`() {
        let reversal = Sample.event("REFUND_REVERSED", signed: 8, transaction: Sample.period(signed: 8))
        let refund = Sample.event("REFUND", signed: 9, transaction: Sample.period(signed: 5, revoked: 5))
        #expect(Self.current(refund, reversal)?.revocationDate == nil)
    }

    @Test func `The transaction of an upgrade replaces the upgraded one, in either order`() {
        let upgrade = Sample.event(
            "DID_CHANGE_RENEWAL_PREF/UPGRADE", signed: 10, status: 1, transaction: Sample.period("2", from: 10, to: 40))
        let replaced = Sample.event(
            "REFUND", signed: 11, status: 1, transaction: Sample.period("1", signed: 11, revoked: 11, isUpgraded: true))
        #expect(Self.current(upgrade, replaced)?.transactionId == "2")
    }

    @Test(arguments: [StoreEnvironment.production, .sandbox])
    func `A renewal replaces seats that were added shortly before it, and those the period that they end with (A6)`(
        environment: StoreEnvironment
    ) {
        let (length, early) = environment == .production ? (3.0, 0.9) : (180 / 86_400, 50 / 86_400)
        func event(_ name: String, _ transaction: TransactionFacts) -> PurchaseEvent {
            var event = Sample.event(name, signed: transaction.signedDate.timeIntervalSince(Sample.day(0)) / 86_400)
            event.key.environment = environment
            event.transaction = transaction
            return event
        }
        var bought = Sample.period("1", to: length)
        bought.reason = "PURCHASE"
        bought.additionalTransactionReason = "QUANTITY_INCREASE"
        var seats = Sample.period("2", from: length - early, to: length)
        (seats.reason, seats.additionalTransactionReason) = ("PURCHASE", bought.additionalTransactionReason)
        var renewed = Sample.period("3", from: length, to: 2 * length, signed: length - early / 2)
        renewed.reason = "RENEWAL"
        let events = (
            event("SUBSCRIBED/INITIAL_BUY", bought), event("DID_CHANGE_RENEWAL_PREF/INCREASE_QUANTITY", seats),
            event("DID_RENEW", renewed)
        )
        #expect(Self.current(events.0, events.1)?.transactionId == "2")
        #expect(Self.current(events.1, events.2)?.transactionId == "3")
    }

    @Test func `An upgrade within the day before a renewal begins is the later purchase (A5)`() {
        var renewed = Sample.period("3", from: 30, to: 60, signed: 29.5)
        renewed.reason = "RENEWAL"
        var upgraded = Sample.period("2", from: 29.7, to: 59.7, product: "platinum", signed: 29.7)
        upgraded.reason = "PURCHASE"
        let events = (
            Sample.event("DID_RENEW", signed: 29.5, transaction: renewed),
            Sample.event("DID_CHANGE_RENEWAL_PREF/UPGRADE", signed: 29.7, transaction: upgraded)
        )
        #expect(Self.current(events.0, events.1)?.transactionId == "2")
    }

    @Test func `An extension moves the end of the same transaction`() {
        let bought = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, transaction: Sample.period())
        let extended = Sample.event("RENEWAL_EXTENDED", signed: 3, transaction: Sample.period(to: 44, signed: 3))
        #expect(Self.current(bought, extended)?.expiresDate == Sample.day(44))
    }

    @Test func `The higher transaction id is the later of two purchases of one moment, and a longer id is higher`() {
        let nine = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, number: 2, transaction: Sample.period("9"))
        let ten = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, number: 1, transaction: Sample.period("10"))
        #expect(Self.current(nine, ten)?.transactionId == "10")
    }

    @Test func `A transaction with a purchase date replaces one without`() {
        var undated = Sample.period("9", signed: 20)
        undated.purchaseDate = nil
        let event = Sample.event("DID_RENEW", signed: 20, transaction: undated)
        let dated = Sample.event("DID_RENEW", signed: 1, transaction: Sample.period("1"))
        #expect(Self.current(event, dated)?.transactionId == "1")
    }

    @Test(arguments: [0.000_001, 0.000_4, 0.000_999]) func `A fraction of a millisecond makes no other purchase`(
        fraction: Double
    ) {
        var early = Sample.period()
        early.purchaseDate = Sample.day(0).addingTimeInterval(fraction)
        let bought = Sample.event("SUBSCRIBED/INITIAL_BUY", signed: 0, status: 1, transaction: early)
        let refund = Sample.event("REFUND", signed: 5, status: 5, transaction: Sample.period(signed: 5, revoked: 5))
        #expect(Self.current(bought, refund)?.revocationDate == Sample.day(5))
        let later = Sample.event("DID_RENEW", signed: 1, transaction: Sample.period("0", from: 0.001, signed: 1))
        #expect(Self.current(bought, later, refund)?.transactionId == "0")
    }

    @Test(arguments: [-62_135_596_800, 946_684_799, 7_258_118_400, 253_402_300_799] as [Double])
    func `A transaction with an implausible purchase date is replaced by the next one`(seconds: Double) {
        var odd = Sample.period("9", to: nil, signed: 20)
        odd.purchaseDate = Date(timeIntervalSince1970: seconds)
        let event = Sample.event("DID_RENEW", signed: 20, transaction: odd)
        let renewed = Sample.event("DID_RENEW", signed: 30, transaction: Sample.period("2", from: 30, to: 60))
        #expect(Self.current(event, renewed)?.transactionId == "2")
        #expect(Sample.state(event)?.transaction?.purchaseDate == odd.purchaseDate)
    }

    @Test func `Versions with different purchase dates end in the same state in any order`() {
        let versions = [(5.0, 1.0), (2, 2), (9, 3), (5, 4)].map { from, signed in
            Sample.event("DID_RENEW", signed: signed, transaction: Sample.period("1", from: from, signed: signed))
        }
        let other = Sample.event("DID_RENEW", signed: 2.5, transaction: Sample.period("2", from: 6, signed: 2.5))
        var generator = SeededGenerator(state: 1)
        let ends = (0..<50).map { _ in
            (versions + [other]).shuffled(using: &generator).reduce(nil as Subscription?) {
                Subscription.applying($1, known: $0).subscription
            }
        }
        #expect(ends.allSatisfy { $0 == ends[0] })
        #expect(ends[0]?.transaction?.purchaseDate == Sample.day(9))
    }
}
