import Contracts
import Foundation
import Testing

@testable import Simulator

@Suite struct SimulatedPurchaseTests {
    private static let always: [LifecycleEvent] = [.requestRefund, .refund]
    private static let renewing: [LifecycleEvent] = [.renew, .failToRenew, .failToRenewWithGrace, .turnRenewalOff]

    /// What has happened, on which product, and all that may happen next.
    static let table: [([LifecycleEvent], Product, [LifecycleEvent])] = [
        ([], basic, [.subscribe]),
        ([.subscribe], basic, renewing + [.upgrade] + always),
        ([.subscribe], premium, renewing + [.upgrade, .downgrade] + always),
        ([.subscribe], studio, renewing + [.downgrade] + always),
        ([.subscribe, .renew], basic, renewing + [.upgrade] + always),
        ([.subscribe, .turnRenewalOff], premium, [.turnRenewalOn, .expireVoluntarily] + always),
        ([.subscribe, .turnRenewalOff, .turnRenewalOn], studio, renewing + [.downgrade] + always),
        ([.subscribe, .failToRenew], basic, [.recover, .expireInBillingRetry]),
        ([.subscribe, .failToRenewWithGrace], basic, [.recover, .outliveGrace]),
        ([.subscribe, .failToRenewWithGrace, .outliveGrace], basic, [.recover, .expireInBillingRetry]),
        ([.subscribe, .failToRenew, .recover], studio, renewing + [.downgrade] + always),
        ([.subscribe, .turnRenewalOff, .expireVoluntarily], basic, [.resubscribe, .refund]),
        ([.subscribe, .failToRenew, .expireInBillingRetry], basic, [.resubscribe, .refund]),
        ([.subscribe, .refund], basic, [.resubscribe, .reverseRefund]),
        ([.subscribe, .refund, .reverseRefund], basic, [.turnRenewalOn, .expireVoluntarily] + always),
        ([.subscribe, .requestRefund], studio, renewing + [.downgrade, .declineRefund, .refund]),
        ([.subscribe, .requestRefund, .declineRefund], studio, renewing + [.downgrade] + always),
    ]

    @Test(arguments: table)
    func `only what Apple's event table allows can happen next`(
        past: [LifecycleEvent], product: Product, next: [LifecycleEvent]
    ) throws {
        let (simulated, _) = try lead(through: past, product: product)
        #expect(Set(LifecycleEvent.allCases.filter(simulated.permits)) == Set(next))
    }

    @Test func `what is not permitted changes nothing`() throws {
        var (simulated, identities) = try lead(through: [.subscribe], product: basic)
        let before = simulated
        #expect(simulated.apply(.recover, at: simulated.now + 60, product: basic, identities: &identities) == nil)
        #expect(simulated.apply(.renew, at: simulated.now, product: basic, identities: &identities) == nil)
        #expect(simulated == before)
    }

    @Test func `a renewal is a new transaction that begins where the last one ended`() throws {
        let (before, _) = try lead(through: [.subscribe], product: basic)
        let (after, _) = try lead(through: [.subscribe, .renew], product: basic)
        let first = try #require(before.purchase)
        let second = try #require(after.purchase)
        #expect(second.originalTransactionId == first.transactionId)
        #expect(second.transactionId != first.transactionId)
        #expect(second.purchaseDate == first.expiresDate)
        #expect(second.originalPurchaseDate == first.purchaseDate)
    }

    @Test func `a downgrade waits for the renewal, an upgrade does not`() throws {
        var (simulated, identities) = try lead(through: [.subscribe], product: premium)
        let id = simulated.purchase?.transactionId
        _ = simulated.apply(.downgrade, at: simulated.now + 60, product: basic, identities: &identities)
        #expect(simulated.purchase?.product == premium)
        #expect(simulated.purchase?.transactionId == id)
        #expect(simulated.renewal?.nextProduct == basic)
        let end = try #require(simulated.purchase?.expiresDate)
        _ = simulated.apply(.renew, at: end + 1, product: studio, identities: &identities)
        #expect(simulated.purchase?.product == basic)
        _ = simulated.apply(.upgrade, at: simulated.now + 60, product: studio, identities: &identities)
        #expect(simulated.purchase?.product == studio)
        #expect(simulated.purchase?.purchaseDate == simulated.now)
    }

    @Test func `recovered in grace nothing was interrupted, recovered later the period begins anew`() throws {
        let (grace, _) = try lead(through: [.subscribe, .failToRenewWithGrace, .recover], product: basic)
        let (retry, _) = try lead(through: [.subscribe, .failToRenew, .recover], product: basic)
        let end = try lead(through: [.subscribe], product: basic).0.purchase?.expiresDate
        #expect(grace.purchase?.purchaseDate == end)
        #expect(retry.purchase?.purchaseDate == retry.now)
        #expect(grace.renewal?.graceExpiresDate == nil)
        #expect(retry.renewal?.isInBillingRetry == false)
    }

    @Test func `a reversed refund reinstates without moving the renewal date`() throws {
        let (paid, _) = try lead(through: [.subscribe], product: basic)
        let (refunded, _) = try lead(through: [.subscribe, .refund], product: basic)
        let (reversed, _) = try lead(through: [.subscribe, .refund, .reverseRefund], product: basic)
        #expect(refunded.status == 5)
        #expect(refunded.purchase?.revocationDate == refunded.now)
        #expect(reversed.status == 1)
        #expect(reversed.purchase == paid.purchase)
    }

    @Test func `sandbox renews by Apple's table`() {
        let sandbox = TimeScale(environment: .sandbox, scale: 1)
        let start = Date(milliseconds: 1_700_000_000_000)
        let minutes = Product.Period.allCases.map { sandbox.end(of: $0, from: start).timeIntervalSince(start) / 60 }
        #expect(minutes == [3, 5, 60])
    }

    @Test func `production renews by the calendar, faster if told so`() {
        // The last day of January: the month after has fewer days.
        let start = Date(milliseconds: 1_738_281_600_000)
        let real = TimeScale(environment: .production, scale: 1)
        let fast = TimeScale(environment: .production, scale: 1000)
        #expect(real.end(of: .month, from: start).timeIntervalSince(start) == 28 * 86_400)
        #expect(fast.end(of: .month, from: start).milliseconds - start.milliseconds == 28 * 86_400)
        #expect(real.end(of: .year, from: start).timeIntervalSince(start) == 365 * 86_400)
    }
}

private let basic = Product.subscriptions[1]
private let premium = Product.subscriptions[2]
private let studio = Product.subscriptions[4]

/// A simulated in production that has been through these events, an hour apart or when the period ended.
private func lead(through events: [LifecycleEvent], product: Product) throws -> (SimulatedPurchase, Identities) {
    let now = Date(milliseconds: 1_790_000_000_000)
    var random = SeededRandom(seed: 7)
    var identities = Identities(seed: 7, now: now)
    let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
    let customer = Customer(of: app, random: &random, identities: &identities)
    var simulated = SimulatedPurchase(
        of: customer, timeScale: TimeScale(environment: .production, scale: 1), beginning: now)
    for event in events {
        let soon = simulated.now.adding(3600)
        let date = event.waitsForExpiry ? max(simulated.purchase?.expiresDate ?? soon, soon) : soon
        let event = try #require(simulated.apply(event, at: date, product: product, identities: &identities))
        #expect(event.kind == event.kind)
        #expect(event.status == simulated.status)
    }
    return (simulated, identities)
}
