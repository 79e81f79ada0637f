import Foundation
import TestSupport
import Testing

@testable import Refunds

/// `REFUND_SETS=100000 REFUND_SEED=7 swift test --filter RefundProgressTests` checks more sets of requests, outcomes, usage and
/// consents, or others.
@Suite struct RefundProgressTests {
    private static let sets = Int(ProcessInfo.processInfo.environment["REFUND_SETS"] ?? "") ?? 5000
    private static let seed = UInt64(ProcessInfo.processInfo.environment["REFUND_SEED"] ?? "") ?? 18

    static let start = Date(timeIntervalSince1970: 1_790_000_000)

    static func at(_ minutes: Double) -> Date { start.addingTimeInterval(minutes * 60) }

    static func progress(
        _ requested: Double?, _ outcome: Double?, _ latest: RefundProgress.Decision? = nil
    ) -> RefundProgress {
        RefundProgress(requestedAt: requested.map(at), outcomeAt: outcome.map(at), latest: latest)
    }

    static func decision(
        _ minutes: Double, withheld: RefundDecision.WithheldReason? = nil, isSent: Bool = false,
        failure: RefundProgress.Failure? = nil
    ) -> RefundProgress.Decision {
        RefundProgress.Decision(
            id: 1, decidedAt: at(minutes), withheld: withheld, isSent: isSent, failure: failure)
    }

    @Test func `A request is decided, sent, and over after twelve hours or when Apple decided`() {
        for (progress, minute, step) in [
            (Self.progress(nil, nil), 0, .nothing), (Self.progress(nil, 5), 6, .nothing),
            (Self.progress(0, nil), 1, .decide), (Self.progress(0, nil), 719, .decide),
            (Self.progress(0, nil), 720, .miss(nil)), (Self.progress(0, 0), 1, .nothing),
            (Self.progress(5, 4), 6, .decide), (Self.progress(4, 5), 6, .nothing),
            (Self.progress(0, nil, Self.decision(1)), 2, .send(1)),
            (Self.progress(0, nil, Self.decision(1)), 720, .miss(1)),
            (Self.progress(0, nil, Self.decision(1, isSent: true)), 720, .nothing),
            (Self.progress(0, nil, Self.decision(1, failure: .final)), 2, .nothing),
            (Self.progress(0, nil, Self.decision(1, failure: .missed)), 721, .nothing),
            // Apple asked again, which gives new time.
            (Self.progress(721, nil, Self.decision(1, failure: .missed)), 722, .send(1)),
            (Self.progress(721, nil, Self.decision(720, withheld: .late)), 722, .decide),
            // A repeat that was signed after the answer opens nothing, and neither does an older outcome that comes late.
            (Self.progress(3, nil, Self.decision(1, isSent: true)), 4, .nothing),
            (Self.progress(3, 0.5, Self.decision(1, isSent: true)), 4, .nothing),
            // A request after an outcome is a new one.
            (Self.progress(3, 2, Self.decision(1, isSent: true)), 4, .decide),
            (Self.progress(3, 2, Self.decision(1)), 4, .decide),
            (Self.progress(0, 2, Self.decision(1)), 4, .nothing),
            (Self.progress(0, nil, Self.decision(1, withheld: .rule)), 2, .nothing),
            (Self.progress(0, nil, Self.decision(1, withheld: .consent)), 2, .decide),
            (Self.progress(0, nil, Self.decision(1, withheld: .consent)), 720, .nothing),
        ] as [(RefundProgress, Double, RefundProgress.Step)] {
            #expect(progress.step(at: Self.at(minute)) == step, "\(progress) at \(minute)")
        }
    }

    @Test func `A person may decide until there is a body, also what a rule withholds`() {
        #expect(Self.progress(0, nil).mayDecideByHand(at: Self.at(1)))
        #expect(Self.progress(0, nil, Self.decision(1, withheld: .rule)).mayDecideByHand(at: Self.at(2)))
        #expect(!Self.progress(0, nil, Self.decision(1)).mayDecideByHand(at: Self.at(2)))
        #expect(!Self.progress(0, nil).mayDecideByHand(at: Self.at(720)))
        #expect(!Self.progress(0, 1).mayDecideByHand(at: Self.at(2)))
    }

    @Test func `Attempts go on for twelve hours, at most ten minutes apart`() {
        #expect(
            (1...10).map { RefundProgress.pause(afterAttempts: $0) } == [5, 10, 20, 40, 80, 160, 320, 600, 600, 600])
        #expect(RefundProgress.pause(afterAttempts: 1_000_000) == 600)
    }

    /// What arrives about one transaction.
    private enum Item {
        case request(Double)
        case outcome(Double)
        case usage(Double)
        case consent(Double, isGiven: Bool)

        var minute: Double {
            switch self {
            case .request(let minute), .outcome(let minute), .usage(let minute), .consent(let minute, _): minute
            }
        }
    }

    private static func items(_ generator: inout SeededGenerator) -> [Item] {
        (0..<Int.random(in: 1...9, using: &generator)).map { _ in
            let minute = Double(Int.random(in: 0..<900, using: &generator))
            return switch Int.random(in: 0..<8, using: &generator) {
            case 0...2: .request(minute)
            case 3...4: .outcome(minute)
            case 5: .usage(minute)
            default: .consent(minute, isGiven: Bool.random(using: &generator))
            }
        }
    }

    /// The store in memory: what arrived, and what was decided.
    private struct Model {
        var requestedAt: Date?
        var outcomeAt: Date?
        var consent: (isGiven: Bool, at: Date)?
        var usageAt: Date?
        var bodies: [(minute: Double, body: [UInt8])] = []
        var latest: RefundProgress.Decision?

        private func at(_ minutes: Double) -> Date { RefundProgressTests.at(minutes) }

        mutating func arrive(_ item: Item) {
            switch item {
            case .request(let minute): requestedAt = max(requestedAt ?? .distantPast, at(minute))
            case .outcome(let minute): outcomeAt = max(outcomeAt ?? .distantPast, at(minute))
            case .usage(let minute): usageAt = max(usageAt ?? .distantPast, at(minute))
            case .consent(let minute, let isGiven):
                // Of two of the same moment the withdrawal counts.
                let isNewer = consent.map { at(minute) > $0.at || (at(minute) == $0.at && !isGiven) } ?? true
                if isNewer { consent = (isGiven, at(minute)) }
            }
        }

        var progress: RefundProgress {
            RefundProgress(requestedAt: requestedAt, outcomeAt: outcomeAt, latest: latest)
        }

        /// One run of the scheduler; Apple always answers 202.
        mutating func look(_ policy: RefundPolicy, at minute: Double) {
            switch progress.step(at: at(minute)) {
            case .nothing: break
            case .miss(nil): latest = RefundProgressTests.decision(minute, withheld: .late)
            case .miss: latest?.failure = .missed
            case .send: latest?.isSent = true
            case .decide:
                let subject = RefundPolicyTests.subject {
                    $0.requestedAt = requestedAt ?? RefundProgressTests.start
                    $0.account = RefundSubject.Account(consent: consent)
                    $0.usage = usageAt.map { _ in .init(percentage: 40_000) }
                }
                switch policy.decide(subject, at: at(minute)) {
                case .wait: break
                case .withhold(let reason, _): latest = RefundProgressTests.decision(minute, withheld: reason)
                case .answer(let answer, _):
                    bodies.append((minute, answer.body))
                    latest = RefundProgressTests.decision(minute)
                }
            }
        }
    }

    /// What is answered when all has arrived, by the words of the requirements and nothing of the product but the policy.
    private static func expected(_ items: [Item], _ policy: RefundPolicy, at minute: Double) -> [[UInt8]] {
        let requests = items.compactMap { if case .request(let minute) = $0 { minute } else { nil } }
        let outcomes = items.compactMap { if case .outcome(let minute) = $0 { minute } else { nil } }
        guard let newest = requests.max(), outcomes.allSatisfy({ $0 < newest }), minute < newest + 720 else {
            return []
        }
        let consents = items.compactMap { item -> (Double, Bool)? in
            if case .consent(let minute, let isGiven) = item { (minute, isGiven) } else { nil }
        }
        let last = consents.map(\.0).max()
        guard last != nil, consents.allSatisfy({ $0.0 != last || $0.1 }) else { return [] }
        let isUsed = items.contains { if case .usage = $0 { true } else { false } }
        if !isUsed, minute < newest + 30 { return [] }
        let subject = RefundPolicyTests.subject { $0.usage = isUsed ? .init(percentage: 40_000) : nil }
        return [RefundAnswer(isUsed ? .grantProrated : nil, about: subject).body]
    }

    private static func policy() throws -> RefundPolicy {
        try RefundPolicyTests.policy(
            #"{"rules": [{"name": "used", "if": {"usage": {"reported": true}}, "then": {"preference": "GRANT_PRORATED"}}, "#
                + #"{"name": "else", "then": {"preference": null, "waitForUsage": "PT30M"}}]}"#)
    }

    @Test func `The answer follows from the set of requests, outcomes, usage and consents, in any order of arrival`()
        throws
    {
        let policy = try Self.policy()
        var generator = SeededGenerator(state: Self.seed)
        var answered = 0
        for _ in 0..<Self.sets {
            let items = Self.items(&generator)
            let minute = Double(Int.random(in: 900..<1600, using: &generator))
            let expected = Self.expected(items, policy, at: minute)
            answered += expected.count
            for _ in 0..<5 {
                var model = Model()
                for item in (items + items.prefix(2)).shuffled(using: &generator) { model.arrive(item) }
                for later in 0..<4 { model.look(policy, at: minute + Double(later) / 100) }
                #expect(model.bodies.map(\.body) == expected, "\(items) at \(minute)")
            }
        }
        #expect(answered > Self.sets / 10)
    }

    @Test func `There is at most one answer for each open request, whenever the scheduler looks`() throws {
        let policy = try Self.policy()
        var generator = SeededGenerator(state: Self.seed &+ 1)
        var answered = 0
        for _ in 0..<Self.sets {
            // Everything arrives some time after it was signed, in its own order, and the scheduler looks in between.
            let items = Self.items(&generator).map { item in
                (item, arrival: item.minute + Double(Int.random(in: 0..<300, using: &generator)))
            }.sorted { $0.arrival < $1.arrival }
            var model = Model()
            for (item, arrival) in items {
                model.arrive(item)
                for look in 0..<Int.random(in: 0...3, using: &generator) {
                    model.look(policy, at: arrival + Double(look) / 10)
                }
            }
            answered += model.bodies.count
            for (earlier, later) in zip(model.bodies, model.bodies.dropFirst()) {
                let isDecidedBetween = items.contains { item, arrival in
                    if case .outcome(let minute) = item {
                        minute >= earlier.minute && arrival <= later.minute
                    } else {
                        false
                    }
                }
                #expect(isDecidedBetween, "two answers to one request: \(items)")
            }
        }
        #expect(answered > Self.sets / 10)
    }
}
