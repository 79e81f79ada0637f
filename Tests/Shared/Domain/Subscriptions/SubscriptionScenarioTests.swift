import Contracts
import Foundation
import Subscriptions
import Testing

@testable import TestSupport

/// The state of one purchase, its anomalies and its gaps over generated scenarios.
@Suite struct SubscriptionScenarioTests {
    /// The stored state, anomalies and gaps of one purchase.
    struct Stored: Equatable {
        var subscription: Subscription?
        var transactions: [String: TransactionVersion] = [:]
        var anomalies: [Anomaly]
        var gaps: [LifecycleGap]

        init(_ events: [PurchaseEvent]) {
            anomalies = Anomaly.all(in: events)
            gaps = LifecycleGap.all(in: events)
            for event in events {
                subscription = Subscription.applying(event, known: subscription).subscription
                guard let facts = event.transaction else { continue }
                let version = TransactionVersion(facts, version: event.version)
                if transactions[facts.transactionId].map({ $0.isOlder(than: version) }) ?? true {
                    transactions[facts.transactionId] = version
                }
            }
        }

        func state(at moment: Date) -> SubscriptionState? {
            subscription.map {
                PurchaseSnapshot(subscription: $0, transactions: Array(transactions.values)).state(at: moment)
            }
        }
    }

    @Test func `What is stored does not depend on the order of arrival and on repetitions`() {
        ScenarioStep.check(1) { steps, seed in
            let events = SimulatedPurchase(steps).events
            let stored = Stored(events)
            if Stored(events.reversed()) != stored { return "the reversed order" }
            return Stored(AccessScenarioTests.delivered(events, seed: seed)) == stored ? nil : "a shuffled order"
        }
    }

    @Test
    func `What is stored does not depend on the order where parts are missing, moments coincide and apps differ`() {
        ScenarioStep.check(2) { steps, seed in
            let events = SimulatedPurchase(steps).eventsWithMissingParts(seed: seed)
            let stored = Stored(events)
            return Stored(AccessScenarioTests.delivered(events, seed: seed)) == stored ? nil : "a shuffled order"
        }
    }

    @Test func `Events with missing parts lack each part somewhere, and coincide`() {
        let purchases = (0..<100 as Range<UInt64>).map { seed in
            SimulatedPurchase(ScenarioStep.scenario(seed: seed)).eventsWithMissingParts(seed: seed)
        }
        let events = purchases.flatMap(\.self)
        #expect(events.contains { $0.status == nil && $0.transaction != nil })
        #expect(events.contains { $0.renewal == nil && $0.transaction != nil })
        #expect(events.contains { $0.transaction == nil && $0.renewal != nil })
        #expect(events.contains { one in one.transaction.map { $0.signedDate < one.version.signedDate } ?? false })
        #expect(purchases.contains { events in Set(events.map(\.version.signedDate)).count < events.count })
        #expect(Set(events.map(\.bundleId)).count == 2)
    }

    @Test func `The state at the moment of each notification is Apple's status`() {
        let expected: [Int: SubscriptionState] = [
            1: .active, 2: .expired, 3: .billingRetry, 4: .gracePeriod, 5: .revoked,
        ]
        ScenarioStep.check(3) { steps, _ in
            // Seats that are added in a period's last day rank above the renewal that was charged after them.
            let purchase = SimulatedPurchase(steps.filter { $0.action != .addSeats && $0.action != .resend })
            // A version without a reason ranks otherwise than a later one with it.
            guard purchase.oldPayloads == 0, !purchase.hasContradictions else { return nil }
            for (index, event) in purchase.events.enumerated() {
                guard let status = event.status else { continue }
                // Notifications of one moment each report one part of the change.
                let next = purchase.events.dropFirst(index + 1).first
                if next?.version.signedDate == event.version.signedDate { continue }
                // Of one moment the status with the greatest UUID counts, which may be another one.
                let newest = purchase.events[...index].filter { $0.status != nil }.max { $0.version < $1.version }
                if newest?.status != status { continue }
                // Nothing says which of two versions of a transaction is newer that Apple signed in one moment.
                let versions = purchase.events[...index].compactMap(\.transaction)
                if Set(versions.map { "\($0.transactionId) \($0.signedDate)" }).count
                    < Set(versions.map { "\($0)" }).count
                {
                    continue
                }
                // Apple does not document the status while a period is paid for that has not begun.
                let told = Set(purchase.events[...index].compactMap(\.transaction?.transactionId))
                let starts = purchase.charges.filter { told.contains($0.facts.transactionId) }.map(\.from)
                if starts.contains(where: { $0 > event.version.signedDate.milliseconds }) { continue }
                let state = Stored(Array(purchase.events[...index])).state(at: event.version.signedDate)
                if state != expected[status] {
                    return
                        "\(state.map(String.init(describing:)) ?? "none") at the status \(status) of \(event.eventName)"
                }
            }
            return nil
        }
    }

    @Test func `A purchase whose notifications all arrived has no gap and no anomaly`() {
        ScenarioStep.check(4) { steps, _ in
            let purchase = SimulatedPurchase(steps.filter { $0.action != .resend })
            guard purchase.isReportedCompletely else { return nil }
            let stored = Stored(purchase.events)
            if !stored.gaps.isEmpty { return "\(stored.gaps.map(\.kind))" }
            let isOfUnknownKind = stored.subscription?.transaction.map { $0.kind == nil } ?? false
            let expected: [Anomaly] = isOfUnknownKind ? [.unknownValue] : []
            return stored.anomalies == expected ? nil : "\(stored.anomalies)"
        }
    }

    private static let beginnings: Set<EventType> = [.subscribed, .subscribedByOffer, .migrated]

    @Test func `A purchase without its first notification has the gap until it arrives`() {
        ScenarioStep.check(5) { steps, _ in
            let purchase = SimulatedPurchase(steps.filter { $0.action != .resend })
            guard purchase.isReportedCompletely else { return nil }
            let events = purchase.events
            let rest = Array(events.dropFirst())
            let hasGap = LifecycleGap.all(in: rest).contains { $0.kind == .beginning }
            let first = rest.filter(\.isLifecycleEvent).min { $0.version < $1.version }
            if hasGap != (first?.eventType.map { !Self.beginnings.contains($0) } ?? false) {
                return "without the first: \(hasGap)"
            }
            return LifecycleGap.all(in: rest + events.prefix(1)).isEmpty ? nil : "a gap stays"
        }
    }

    @Test func `The changes, one after another, add up to the whole state`() {
        ScenarioStep.check(6) { steps, seed in
            var sum: [Fact: String] = [:]
            var known: Subscription?
            for event in AccessScenarioTests.delivered(SimulatedPurchase(steps).events, seed: seed) {
                let applied = Subscription.applying(event, known: known)
                for change in applied.changes {
                    if sum[change.fact] != change.from { return "\(change)" }
                    sum[change.fact] = change.to
                }
                known = applied.subscription
            }
            let facts = Fact.allCases.filter { fact in sum[fact] != known.flatMap { fact.text(in: $0) } }
            return facts.isEmpty ? nil : "\(facts)"
        }
    }
}

extension SimulatedPurchase {
    /// Whether a notification reported every end, in an order that is known. Payloads without a status do not say whether a
    /// refund was one.
    fileprivate var isReportedCompletely: Bool {
        !hasChangedSilently && !hasCoincidences && !hasContradictions && oldPayloads == 0
    }

    /// The events as Apple may send them where it leaves things out: parts are missing, two notifications are of one moment, a
    /// transaction was signed up to an hour before its notification, a purchase date has a fraction, another app sends.
    func eventsWithMissingParts(seed: UInt64) -> [PurchaseEvent] {
        var generator = SeededGenerator(state: seed &+ 79)
        func happens(_ odds: Int) -> Bool { Int.random(in: 0..<odds, using: &generator) == 0 }
        var last: Date?
        return events.map { whole in
            var event = whole
            if happens(6), let last { event.version.signedDate = last }
            last = event.version.signedDate
            if happens(4) { event.renewal = nil }
            if happens(5) { event.status = nil }
            if happens(8) { event.transaction = nil }
            if happens(3) {
                let lead = Double(Int.random(in: 1...3600, using: &generator))
                event.transaction?.signedDate = event.version.signedDate.addingTimeInterval(-lead)
            }
            if happens(7), let bought = event.transaction?.purchaseDate {
                event.transaction?.purchaseDate = bought.addingTimeInterval(0.000_4)
            }
            if happens(20) { event.bundleId = "com.example.woods" }
            return event
        }
    }
}
