import Contracts
import Foundation
import Subscriptions
import Testing

@testable import TestSupport

/// Access over generated scenarios, against the charges of the simulated purchase and against a brute-force reference.
@Suite struct AccessScenarioTests {
    static func schedule(_ events: [PurchaseEvent]) -> AccessSchedule {
        AccessScheduleTests.schedule(events, durations: SimulatedPurchase.passes.mapValues { .days($0) })
    }

    static func delivered(_ events: [PurchaseEvent], seed: UInt64) -> [PurchaseEvent] {
        var generator = SeededGenerator(state: seed &+ 77)
        return (events + events.filter { _ in Bool.random(using: &generator) }).shuffled(using: &generator)
    }

    static func moments(around boundaries: [Int64], seed: UInt64) -> [Int64] {
        var generator = SeededGenerator(state: seed &+ 78)
        let near = Set(boundaries.flatMap { [$0 - 1, $0, $0 + 1] }).filter { $0 < 4_000_000_000_000 }
        guard let first = near.min(), let last = near.max() else { return [] }
        return near.sorted() + (0..<10).map { _ in .random(in: first - 1000...last + 1000, using: &generator) }
    }

    static func boundaries(_ schedule: AccessSchedule) -> [Int64] {
        schedule.periods.flatMap { [$0.startsAt, $0.endsAt].compactMap(\.self).map(\.milliseconds) }
    }

    @Test func `Access is what the simulated purchase paid for at every moment, in every order of arrival`() {
        ScenarioStep.check(1) { steps, seed in
            let purchase = SimulatedPurchase(steps)
            guard !purchase.events.isEmpty else { return nil }
            let schedule = Self.schedule(Self.delivered(purchase.events, seed: seed))
            for moment in Self.moments(around: purchase.moments + Self.boundaries(schedule), seed: seed) {
                let answer = schedule.period(at: Date(milliseconds: moment))?.productId
                let truth = purchase.product(at: moment)
                if answer != truth {
                    return "at \(Self.day(moment)): \(answer ?? "none"), but \(truth ?? "none") is entitled to\n"
                        + Self.describe(schedule)
                }
            }
            return nil
        }
    }

    @Test func `Access after losses is what the reference computes`() {
        ScenarioStep.check(2) { steps, seed in
            let events = Self.received(steps, seed: seed)
            guard let newest = events.map(\.version).max()?.signedDate.milliseconds else { return nil }
            let schedule = Self.schedule(Self.delivered(events, seed: seed))
            let reference = AccessReference(events: events)
            let dates = events.flatMap {
                [
                    $0.transaction?.purchaseDate, $0.transaction?.expiresDate, $0.renewal?.renewalDate,
                    $0.renewal?.gracePeriodExpiresDate,
                ].compactMap(\.self).map(\.milliseconds)
            }
            for moment in Self.moments(around: dates + [newest + 1] + Self.boundaries(schedule), seed: seed) {
                let date = Date(milliseconds: moment)
                let answer = schedule.period(at: date)?.productId
                let allowed = moment < newest ? reference.pastAnswers(at: date) : reference.answers(at: date)
                if !allowed.contains(answer) {
                    return "at \(Self.day(moment)): \(answer ?? "none"), but the reference says \(allowed)\n"
                        + events.map(Self.describe).joined(separator: "\n") + "\n" + Self.describe(schedule)
                }
            }
            return nil
        }
    }

    @Test
    func `A purchase that the newest event calls active gives access, and another only in a paid period`() {
        ScenarioStep.check(3) { steps, seed in
            let events = Self.received(steps, seed: seed)
            guard let newest = events.max(by: { $0.version < $1.version }), let status = newest.status else {
                return nil
            }
            let schedule = Self.schedule(Self.delivered(events, seed: seed))
            let start = newest.version.signedDate.milliseconds
            let received = events.map(describeFacts).joined(separator: "\n") + "\n" + Self.describe(schedule)
            // An envelope that was sent again may hold an older renewal info.
            let renewal = events.compactMap(\.renewal).max { $0.signedDate < $1.signedDate }
            let until = status == 4 ? renewal?.gracePeriodExpiresDate : renewal?.renewalDate
            // The renewal date of a transaction that was refunded gives nothing.
            let refunded = events.compactMap(\.transaction).filter {
                $0.revocationDate != nil && $0.expiresDate == until
            }
            for moment in Self.moments(
                around: [start, until?.milliseconds ?? start] + Self.boundaries(schedule), seed: seed)
            where moment >= start {
                let date = Date(milliseconds: moment)
                let period = schedule.period(at: date)
                switch status {
                case 1, 4:
                    // Holes of less than a second are no missing transactions.
                    if let until, date < until.addingTimeInterval(-1), period == nil,
                        schedule.period(at: date.addingTimeInterval(1)) == nil,
                        !refunded.contains(where: { ($0.purchaseDate ?? date) < date.addingTimeInterval(1) })
                    {
                        return "at \(Self.day(moment)): locked out, but Apple says status \(status)\n" + received
                    }
                default:
                    guard let period, period.reason != .gracePeriod || status != 3 else { continue }
                    let versions = events.compactMap(\.transaction).filter { $0.transactionId == period.transactionId }
                    guard let paid = versions.max(by: { $0.signedDate < $1.signedDate }), paid.revocationDate == nil,
                        let from = paid.purchaseDate, let end = paid.expiresDate, from <= date, date < end
                    else { return "at \(Self.day(moment)): let in, but Apple says status \(status)\n" + received }
                }
            }
            return nil
        }
        func describeFacts(_ event: PurchaseEvent) -> String { Self.describe(event) }
    }

    @Test func `Periods are in order, never overlap and are never empty`() {
        ScenarioStep.check(4) { steps, seed in
            let events = Self.received(steps, seed: seed)
            guard !events.isEmpty else { return nil }
            let schedule = Self.schedule(events)
            for (period, next) in zip(schedule.periods, schedule.periods.dropFirst())
            where period.endsAt.map({ $0 > next.startsAt }) ?? true {
                return "overlap\n" + Self.describe(schedule)
            }
            if schedule.periods.contains(where: { period in period.endsAt.map { $0 <= period.startsAt } ?? false }) {
                return "empty\n" + Self.describe(schedule)
            }
            if Self.schedule(Self.delivered(events, seed: seed)) != schedule
                || Self.schedule(events.reversed()) != schedule
            {
                return "the order of arrival matters\n" + Self.describe(schedule)
            }
            return nil
        }
    }

    @Test func `The scenarios reach every event about a purchase, every kind of product and both environments`() {
        let events = (0..<4000 as Range<UInt64>).flatMap { SimulatedPurchase(ScenarioStep.scenario(seed: $0)).events }
        let aboutNoPurchase: Set<EventType> = [
            .massExtensionDone, .tokenUnreported, .tokenCreated, .tokenReminder, .consentRescinded, .seatsUnclaimed,
            .tested,
        ]
        #expect(Set(events.compactMap(\.eventType)) == Set(EventType.allCases).subtracting(aboutNoPurchase))
        #expect(Set(events.compactMap(\.status)) == [1, 2, 3, 4, 5])
        #expect(Set(events.compactMap(\.part)) == [.transaction, .renewalInfo])
        #expect(Set(events.map(\.key.environment)) == [.production, .sandbox])
        let types = Set(events.compactMap { $0.transaction?.productType })
        #expect(types == Set(ProductKind.allCases.map(\.rawValue) + ["Subscription Bundle"]))
        #expect(Set(events.compactMap { $0.transaction?.ownership }) == ["PURCHASED", "FAMILY_SHARED"])
        #expect(events.contains { $0.status == nil && $0.part == nil && $0.renewal != nil })
        #expect(events.contains { $0.status == 1 && $0.renewal?.gracePeriodExpiresDate != nil })
        #expect(events.contains { $0.transaction.map { $0.signedDate < $0.purchaseDate ?? .distantPast } ?? false })
        #expect(zip(events, events.dropFirst()).contains { $0.version.signedDate == $1.version.signedDate })
    }

    @Test func `A failing scenario is shrunk to what makes it fail`() {
        let needle = ScenarioStep(action: .event(.tested), wait: 1, choice: -1)
        let steps = ScenarioStep.scenario(seed: 3) + [needle] + ScenarioStep.scenario(seed: 4)
        #expect(ScenarioStep.shrunk(steps) { $0.contains(needle) } == [needle])
    }

    // MARK: - Losses and words

    /// Which events were received depends on each event alone, so that shrinking does not change what is lost.
    static func received(_ steps: [ScenarioStep], seed: UInt64) -> [PurchaseEvent] {
        let odds = seed % 3
        return SimulatedPurchase(steps).events.filter { event in
            var generator = SeededGenerator(state: UInt64(event.version.notificationUUID.uuid.0) &+ seed)
            return Int.random(in: 0..<3, using: &generator) >= Int(odds)
        }
    }

    static func day(_ moment: Int64) -> String {
        String(format: "%.6f", Double(moment - SimulatedPurchase.birth) / 86_400_000)
    }

    static func describe(_ schedule: AccessSchedule) -> String {
        schedule.periods.map { period in
            let end = period.endsAt.map { day($0.milliseconds) } ?? "open"
            return "    \(period.productId) \(day(period.startsAt.milliseconds)) – \(end) \(period.reason)"
        }.joined(separator: "\n")
    }

    static func describe(_ event: PurchaseEvent) -> String {
        func text(_ date: Date?) -> String { date.map { day($0.milliseconds) } ?? "–" }
        let transaction = event.transaction.map { one in
            "\(one.transactionId.suffix(2)) \(one.productId) \(text(one.purchaseDate))–\(text(one.expiresDate))"
                + " \(one.reason ?? "")\(one.isUpgraded ? " upgraded" : "") signed \(text(one.signedDate))"
                + (one.revocationDate.map { " revoked \(text($0))" } ?? "")
                + (one.additionalTransactionReason.map { " \($0)" } ?? "")
        }
        let renewal = event.renewal.map { one in
            "renewal \(one.productId ?? "–") \(text(one.renewalDate)) grace \(text(one.gracePeriodExpiresDate))"
                + " signed \(text(one.signedDate))"
        }
        return "\(event.eventName) \(text(event.version.signedDate)) status \(event.status ?? 0): "
            + [transaction, renewal].compactMap(\.self).joined(separator: "; ")
    }
}
