import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct SimulatedPurchaseTests {
    private static let always: [LifecycleEvent] = [
        .requestRefund, .refund, .extend, .failToExtend, .updateMetadata, .migrate, .changePrice, .somethingNew,
    ]
    private static let renewing: [LifecycleEvent] = [
        .renew, .renewInANewWay, .failToRenew, .failToRenewWithGrace, .turnRenewalOff, .redeemOffer,
        .announcePriceIncrease, .raisePrice,
    ]
    private static let ending: [LifecycleEvent] = [
        .turnRenewalOn, .expireVoluntarily, .expireOtherwise, .expireProductNotForSale,
    ]
    private static let up: [LifecycleEvent] = [.upgrade, .redeemOfferAndUpgrade]
    private static let down: [LifecycleEvent] = [.downgrade, .redeemOfferAndDowngrade]
    private static let across: [LifecycleEvent] = [.crossgrade]
    private static let back: [LifecycleEvent] = [.requestRefundOfEarlierPeriod, .refundEarlierPeriod]
    private static let ofBasic = renewing + up + down + across + always

    /// The events so far, the product, and all events that may follow.
    static let table: [([LifecycleEvent], Product, [LifecycleEvent])] = [
        ([], basic, [.subscribe, .buy]),
        ([.subscribe], basic, ofBasic),
        ([.subscribe], premium, renewing + up + down + always),
        ([.subscribe], studio, renewing + down + across + always),
        ([.subscribe, .renew], basic, ofBasic + back),
        ([.subscribe, .turnRenewalOff], premium, ending + always),
        ([.subscribe, .turnRenewalOff, .turnRenewalOn], studio, renewing + down + across + always),
        ([.subscribe, .failToRenew], basic, [.recover, .expireInBillingRetry]),
        ([.subscribe, .failToRenewWithGrace], basic, [.recover, .outliveGrace]),
        ([.subscribe, .failToRenewWithGrace, .outliveGrace], basic, [.recover, .expireInBillingRetry]),
        ([.subscribe, .failToRenew, .recover], studio, renewing + down + across + always + back),
        ([.subscribe, .turnRenewalOff, .expireVoluntarily], basic, [.resubscribe, .refund]),
        ([.subscribe, .failToRenew, .expireInBillingRetry], basic, [.resubscribe, .refund]),
        ([.subscribe, .refund], basic, [.resubscribe, .reverseRefund]),
        ([.subscribe, .refund, .reverseRefund], basic, ending + always),
        (
            [.subscribe, .requestRefund], basic,
            ofBasic.filter { $0 != .requestRefund } + [.declineRefund, .repeatConsumptionRequest]
        ),
        ([.subscribe, .requestRefund, .declineRefund], basic, ofBasic),
        (
            [.subscribe, .announcePriceIncrease], basic,
            ofBasic.filter { ![.announcePriceIncrease, .raisePrice].contains($0) }
                + [.acceptPriceIncrease, .expireAfterPriceIncrease]
        ),
        ([.subscribe], Product.team, renewing + always + [.unclaimSeats, .addSeats, .refundSeats]),
        (
            [.subscribe, .addSeats], Product.team,
            renewing + always.filter { ![.refund, .extend, .failToExtend].contains($0) }
                + [.unclaimSeats, .refundSeats] + back
        ),
        (
            [.subscribe, .addSeats, .refundEarlierPeriod], Product.team,
            renewing + always + [.unclaimSeats, .refundSeats]
        ),
        ([.subscribe, .refundSeats], Product.team, renewing + always + [.unclaimSeats, .addSeats]),
        ([.buy], Product.nonConsumable, [.requestRefund, .refund]),
        ([.buy, .refund], Product.consumables[0], [.reverseRefund]),
        ([.buy, .requestRefund], Product.nonRenewing, [.repeatConsumptionRequest, .declineRefund, .refund]),
    ]

    @Test(arguments: table)
    func `Events follow each other only as in Apple's event table`(
        past: [LifecycleEvent], product: Product, next: [LifecycleEvent]
    ) throws {
        let (simulated, _) = try lead(through: past, product: product)
        #expect(Set(LifecycleEvent.allCases.filter { simulated.permits($0, at: simulated.now) }) == Set(next))
    }

    @Test func `Event that is not permitted changes nothing`() throws {
        var (simulated, identities) = try lead(through: [.subscribe], product: basic)
        let before = simulated
        #expect(simulated.apply(.recover, at: simulated.now + 60, product: basic, identities: &identities) == nil)
        #expect(simulated.apply(.renew, at: simulated.now, product: basic, identities: &identities) == nil)
        #expect(simulated == before)
    }

    @Test func `Renewal is a new transaction that begins where the last one ended`() throws {
        let (before, _) = try lead(through: [.subscribe], product: basic)
        let (after, _) = try lead(through: [.subscribe, .renew], product: basic)
        let first = try #require(before.purchase)
        let second = try #require(after.purchase)
        #expect(second.originalTransactionId == first.transactionId)
        #expect(second.transactionId != first.transactionId)
        #expect(second.purchaseDate == first.expiresDate)
        #expect(second.originalPurchaseDate == first.purchaseDate)
    }

    @Test func `Downgrade waits for the renewal, an upgrade does not`() throws {
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

    @Test func `Recovery in grace continues the period, and a later one begins another`() throws {
        let (grace, _) = try lead(through: [.subscribe, .failToRenewWithGrace, .recover], product: basic)
        let (retry, _) = try lead(through: [.subscribe, .failToRenew, .recover], product: basic)
        let end = try lead(through: [.subscribe], product: basic).0.purchase?.expiresDate
        #expect(grace.purchase?.purchaseDate == end)
        #expect(retry.purchase?.purchaseDate == retry.now)
        #expect(grace.renewal?.graceExpiresDate == nil)
        #expect(retry.renewal?.isInBillingRetry == false)
    }

    @Test func `Reversed refund reinstates without moving the renewal date`() throws {
        let (paid, _) = try lead(through: [.subscribe], product: basic)
        let (refunded, _) = try lead(through: [.subscribe, .refund], product: basic)
        let (reversed, _) = try lead(through: [.subscribe, .refund, .reverseRefund], product: basic)
        #expect(refunded.status == 5)
        #expect(refunded.purchase?.revocation?.date == refunded.now)
        #expect(reversed.status == 1)
        #expect(reversed.purchase == paid.purchase)
    }

    @Test func `Period charged early begins where the last one ends, whatever the date of the charge`() throws {
        var (simulated, identities) = try lead(through: [.subscribe], product: basic)
        let end = try #require(simulated.purchase?.expiresDate)
        let payload = try #require(
            simulated.apply(.renew, at: end - 80_000, product: basic, identities: &identities))
        #expect(payload.signedDate < end)
        #expect(payload.purchase?.purchaseDate == end)
        #expect(payload.purchase?.reason == .renewal)
        #expect(payload.status == 1)
        #expect(
            simulated.access.periods.map(\.start) == [try #require(simulated.transactions.first).purchaseDate, end])
    }

    @Test func `Renewal info after a downgrade that was charged early names the product that still runs`() throws {
        var (simulated, identities) = try lead(through: [.subscribe, .downgrade], product: premium, to: basic)
        let end = try #require(simulated.purchase?.expiresDate)
        let payload = try #require(
            simulated.apply(.renew, at: end - 3600, product: basic, identities: &identities))
        #expect(payload.purchase?.product == basic)
        #expect(payload.renewal?.product == premium)
    }

    @Test func `Notification of a refund flow has the old transaction, and status and renewal info of now`() throws {
        var (simulated, identities) = try lead(through: [.subscribe, .renew], product: basic)
        let first = try #require(simulated.transactions.first?.transactionId)
        let newest = try #require(simulated.purchase)
        for event in [LifecycleEvent.requestRefundOfEarlierPeriod, .repeatConsumptionRequest, .refund] {
            let payload = try #require(
                simulated.apply(event, at: simulated.now + 60, product: basic, identities: &identities))
            #expect(payload.purchase?.transactionId == first)
            #expect((payload.purchase?.revocation != nil) == (event == .refund))
            #expect(payload.status == 1)
            #expect(payload.renewal?.date == newest.expiresDate)
        }
        #expect(simulated.access.periods.last?.end == newest.expiresDate)
    }

    @Test func `Grace period that is announced early is no billing retry yet`() throws {
        var (simulated, identities) = try lead(through: [.subscribe], product: basic)
        let end = try #require(simulated.purchase?.expiresDate)
        let payload = try #require(
            simulated.apply(.failToRenewWithGrace, at: end - 3600, product: basic, identities: &identities))
        #expect(payload.status == 4)
        #expect(payload.renewal?.spokenBillingRetry == false)
        #expect(payload.renewal?.graceExpiresDate == end + 16 * 86_400)
        #expect(simulated.access.periods.last?.end == end + 16 * 86_400)
    }

    @Test(arguments: [
        (5, [3.0, 5, 10, 15, 30, 60]), (30, [10, 30, 60, 90, 180, 360]), (60, [15, 60, 120, 180, 360, 720]),
    ])
    func `Sandbox renews by Apple's table at each of its speeds`(speed: Int, expected: [Double]) throws {
        var sandbox = TimeScale(environment: .sandbox)
        sandbox.sandboxSpeed = try #require(TimeScale.SandboxSpeed(rawValue: speed))
        let start = Date(milliseconds: 1_700_000_000_000)
        let minutes = Product.Period.allCases.map { sandbox.end(of: $0, from: start).timeIntervalSince(start) / 60 }
        #expect(minutes == expected)
    }

    @Test func `Production renews by the calendar, or faster by the time scale`() {
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

/// A purchase in production that has been through these events, an hour apart or when the period ended.
private func lead(
    through events: [LifecycleEvent], product: Product, to other: Product? = nil
) throws -> (SimulatedPurchase, Identities) {
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
        let target = event == .downgrade ? other ?? product : product
        let payload = try #require(simulated.apply(event, at: date, product: target, identities: &identities))
        #expect(payload.kind == event.kind)
        #expect(payload.status == simulated.status)
    }
    return (simulated, identities)
}
