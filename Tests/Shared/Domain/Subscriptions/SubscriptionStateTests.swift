import Foundation
import Subscriptions
import Testing

@Suite struct SubscriptionStateTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var transaction: TransactionFacts?
        var renewal: RenewalFacts?
        /// Signed together with the transaction, after the renewal info.
        var status: Int?
        /// The day of the status.
        var statusDay = 31.0
        var day: Double
        var state: SubscriptionState
        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(name: "nothing known", day: 1, state: .unknown),
        Case(name: "within the period", transaction: Sample.period(), day: 29.9, state: .active),
        Case(name: "at the very end", transaction: Sample.period(), day: 30, state: .overdue),
        Case(name: "before the period, charged early", transaction: Sample.period(from: 1), day: 0, state: .active),
        Case(
            name: "auto-renew off, after the end", transaction: Sample.period(), renewal: Sample.renewal(on: false),
            day: 31, state: .expired),
        Case(
            name: "the renewal was refunded before it began, and the next charge failed",
            transaction: Sample.period(from: 30, to: 60, signed: 29.6, revoked: 29.5), status: 3, day: 31,
            state: .billingRetry),
        Case(
            name: "the renewal was refunded before it began, and the subscription ended",
            transaction: Sample.period(from: 30, to: 60, signed: 29.6, revoked: 29.5), status: 2, day: 31,
            state: .expired),
        Case(
            name: "added seats were refunded, and the next charge failed",
            transaction: Sample.seats(Sample.period("2", from: 10, signed: 15, revoked: 15)), status: 3, day: 31,
            state: .billingRetry),
        Case(
            name: "added seats were refunded, and the next charge is not known",
            transaction: Sample.seats(Sample.period("2", from: 10, signed: 15, revoked: 15)), status: 1, statusDay: 16,
            day: 31, state: .overdue),
        Case(
            name: "added seats were refunded at the moment of the status, and the next charge is not known",
            transaction: Sample.seats(Sample.period("2", from: 10, signed: 15, revoked: 15)), status: 1, statusDay: 15,
            day: 31, state: .overdue),
        Case(
            name: "added seats were refunded on a day to come",
            transaction: Sample.seats(Sample.period("2", from: 10, signed: 15, revoked: 20)), status: 1, statusDay: 15,
            day: 31, state: .overdue),
        Case(
            name: "added seats were refunded, and then the whole period",
            transaction: Sample.seats(Sample.period("2", from: 10, signed: 15, revoked: 15)), status: 5, statusDay: 16,
            day: 31, state: .revoked),
        Case(
            name: "in grace", transaction: Sample.period(), renewal: Sample.renewal(retry: true, grace: 46, signed: 30),
            day: 45, state: .gracePeriod),
        Case(
            name: "grace over", transaction: Sample.period(),
            renewal: Sample.renewal(retry: true, grace: 46, signed: 30), day: 46, state: .billingRetry),
        Case(
            name: "grace of an older period", transaction: Sample.period(to: 60),
            renewal: Sample.renewal(retry: true, grace: 70, signed: 30), day: 61, state: .overdue),
        Case(
            name: "grace of another product, whose transaction is unknown", transaction: Sample.period(),
            renewal: Sample.renewal(retry: true, grace: 46, signed: 30, product: "silver"), day: 31,
            state: .gracePeriod),
        Case(
            name: "grace of an older product", transaction: Sample.period(from: 30, to: 60, signed: 30),
            renewal: Sample.renewal(retry: true, grace: 76, signed: 29, product: "silver"), day: 61, state: .overdue),
        Case(
            name: "in grace, and not yet in billing retry", transaction: Sample.period(),
            renewal: Sample.renewal(retry: false, grace: 46, signed: 30), day: 31, state: .gracePeriod),
        Case(
            name: "in grace without an end of it", transaction: Sample.period(),
            renewal: Sample.renewal(retry: true, signed: 30), status: 4, day: 31, state: .billingRetry),
        Case(
            name: "status in billing retry before the grace ends", transaction: Sample.period(signed: 31),
            renewal: Sample.renewal(retry: true, grace: 46, signed: 31), status: 3, day: 32, state: .gracePeriod),
        Case(
            name: "in billing retry", transaction: Sample.period(),
            renewal: Sample.renewal(retry: true, signed: 30), day: 89, state: .billingRetry),
        Case(
            name: "60 days of billing retry are over", transaction: Sample.period(),
            renewal: Sample.renewal(retry: true, signed: 30), day: 90, state: .expired),
        Case(name: "status expired", transaction: Sample.period(), status: 2, day: 31, state: .expired),
        Case(
            name: "status expired early", transaction: Sample.period(), status: 2, statusDay: 2, day: 3, state: .active
        ),
        Case(name: "revoked", transaction: Sample.period(revoked: 3), day: 4, state: .revoked),
        Case(name: "revoked on a day to come", transaction: Sample.period(revoked: 30), day: 4, state: .revoked),
        Case(
            name: "revoked by status alone", transaction: Sample.period(), status: 5, statusDay: 2, day: 4,
            state: .revoked),
        Case(name: "upgraded", transaction: Sample.period(isUpgraded: true), day: 4, state: .upgraded),
        Case(name: "before its only period", transaction: Sample.period(from: 20, to: 50), day: 5, state: .notBegun),
        Case(
            name: "before its only period, which will not renew", transaction: Sample.period(from: 20, to: 50),
            renewal: Sample.renewal(retry: false, signed: 1), day: 5, state: .notBegun),
        Case(
            name: "refunded before its only period", transaction: Sample.period(from: 20, to: 50, revoked: 3), day: 5,
            state: .revoked),
        Case(name: "ends before it begins", transaction: Sample.period(from: 20, to: 10), day: 5, state: .expired),
        Case(name: "a subscription without end", transaction: Sample.period(to: nil), day: 5, state: .unknown),
        Case(
            name: "until the year 9999", transaction: Sample.period(to: 2_912_000), day: 400_000, state: .active),
        Case(name: "non-consumable", transaction: Sample.purchase(.nonConsumable, "sword"), day: 999, state: .owned),
        Case(name: "consumable", transaction: Sample.purchase(.consumable, "coins"), day: 1, state: .consumed),
        Case(
            name: "non-renewing without end", transaction: Sample.purchase(.nonRenewing, "pass"), day: 9, state: .active
        ),
        Case(
            name: "non-renewing, ended", transaction: Sample.purchase(.nonRenewing, "pass", to: 7), day: 9,
            state: .expired),
        Case(
            name: "a kind to come",
            transaction: TransactionFacts(
                transactionId: "1", productId: "p", productType: "Rental", signedDate: Sample.day(0)),
            day: 1, state: .unknown),
        Case(
            name: "a kind to come, with an end ahead",
            transaction: TransactionFacts(
                transactionId: "1", productId: "p", productType: "Subscription Bundle", purchaseDate: Sample.day(0),
                expiresDate: Sample.day(30), signedDate: Sample.day(0)),
            day: 1, state: .active),
    ]

    @Test(arguments: cases) func `The state follows from the facts and the clock`(given: Case) {
        var subscription = Subscription(key: Sample.key(), bundleId: "com.example.metals", version: Sample.version(0))
        subscription.transaction = given.transaction
        subscription.transactionVersion = given.transaction.map { _ in Sample.version(given.statusDay) }
        subscription.renewal = given.renewal
        subscription.renewalVersion = given.renewal.map { _ in Sample.version(30) }
        subscription.status = given.status
        subscription.statusVersion = given.status.map { _ in Sample.version(given.statusDay) }
        subscription.statusTransactionId = given.status.flatMap { _ in given.transaction?.transactionId }
        #expect(subscription.state(at: Sample.day(given.day)) == given.state)
    }

    @Test func `Every state has a case`() {
        #expect(Set(Self.cases.map(\.state)) == Set(SubscriptionState.allCases))
    }

    @Test func `A status of an older transaction neither expires nor revokes the current one`() {
        for status in [2, 5] {
            let renewed = Sample.event(
                "DID_RENEW", signed: 30, status: 1, transaction: Sample.period("2", from: 30, to: 60))
            let old = Sample.event("REFUND", signed: 40, status: status, transaction: Sample.period("1", signed: 40))
            #expect(Sample.state(renewed, old)?.state(at: Sample.day(41)) == .active)
        }
    }
}
