import Contracts
import Foundation
import Testing

@testable import SimulatedAppStore

@Suite struct OpenRefundsTests {
    private static let scale = 600.0
    private static let hour = 3600 / scale

    /// Lets the population run while the present moves on, and answers what `isAnswered` says at once.
    private static func run(
        seed: UInt64, count: Int = 6000, isAnswered: (EventPayload) -> Bool
    ) -> [String: [EventPayload]] {
        var now = PopulationTests.now
        var population = Population(
            apps: PopulationTests.apps, size: 50, conditions: Conditions(refundScale: scale), seed: seed, now: now)
        var events: [String: [EventPayload]] = [:]
        var asked: Set<String> = []
        for _ in 0..<count {
            let event = population.next(now: now)
            if let id = event.purchase?.transactionId {
                if event.kind.type == .consumptionRequest { asked.insert(id) }
                if asked.contains(id) { events[id, default: []].append(event) }
                if event.kind.type == .consumptionRequest, isAnswered(event), let purchase = event.purchase {
                    population.answerConsumptionRequest(
                        of: id, originalTransactionId: purchase.originalTransactionId, at: now)
                }
            }
            now = now.adding(0.5)
        }
        // Requests of scenarios lie in the past.
        return events.filter { $0.value[0].signedDate >= PopulationTests.now }
    }

    @Test(arguments: [1, 7] as [UInt64])
    func `Refund is asked for in the present, and what is not answered is asked again and decided within 48 hours`(
        seed: UInt64
    ) throws {
        let refunds = Self.run(seed: seed) { _ in false }
        #expect(refunds.count > 20)
        var repeats = 0
        for events in refunds.values {
            let first = try #require(events.first)
            #expect(first.kind.type == .consumptionRequest)
            for event in events.dropFirst() where event.kind.type == .consumptionRequest {
                repeats += 1
                #expect(event.signedDate < first.signedDate.adding(12 * Self.hour + 1))
                #expect(event.uuid != first.uuid)
            }
            guard let outcome = events.last, outcome.kind.type != .consumptionRequest else { continue }
            #expect([.refund, .refundDeclined].contains(outcome.kind.type))
            let hours = outcome.signedDate.timeIntervalSince(first.signedDate) / Self.hour
            #expect(hours >= 12 && hours <= 49)
        }
        #expect(repeats > 0)
    }

    @Test func `Answered request is not asked again and is decided within 4 hours, both ways`() throws {
        let refunds = Self.run(seed: 3) { _ in true }
        var outcomes: Set<String> = []
        for events in refunds.values {
            #expect(events.count { $0.kind.type == .consumptionRequest } == 1)
            guard events.count > 1 else { continue }
            outcomes.insert(events[1].kind.type.rawValue)
            #expect(events[1].signedDate.timeIntervalSince(events[0].signedDate) <= 4 * Self.hour + 1)
        }
        #expect(outcomes == ["REFUND", "REFUND_DECLINED"])
    }

    @Test func `What Apple decides follows from the seed, whenever the answer comes`() {
        func outcomes(_ isAnswered: Bool) -> [String: String] {
            Self.run(seed: 11) { _ in isAnswered }.compactMapValues { events in
                events.last.flatMap { $0.kind.type == .consumptionRequest ? nil : $0.kind.type.rawValue }
            }
        }
        let (answered, silent) = (outcomes(true), outcomes(false))
        let both = Set(answered.keys).intersection(silent.keys)
        #expect(!both.isEmpty)
        for id in both { #expect(answered[id] == silent[id]) }
    }
}
