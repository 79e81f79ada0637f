import Subscriptions

/// One step of a scenario: an event of a simulated purchase. A step that is impossible when its turn comes is left out, so
/// any subsequence of a scenario is a scenario too, and a failing one can be shrunk.
struct ScenarioStep: Sendable, Equatable, CustomStringConvertible {
    enum Action: Sendable, Equatable {
        case event(EventType)
        /// The customer adds seats in the middle of a period.
        case addSeats
        /// Apple sends an old notification's parts in a new envelope.
        case resend
        /// The app or the API hands over what Apple signed, without a notification and a status.
        case signTransaction, signRenewalInfo
    }

    var action: Action
    /// Decides how long after the step before, 0..<1000.
    var wait: Int
    /// Decides between variants, 0..<1_000_000.
    var choice: Int

    var description: String {
        let name = if case .event(let type) = action { type.rawValue } else { "\(action)" }
        return "\(name) wait \(wait) choice \(choice)"
    }

    private static let beginnings: [EventType] = [
        .subscribed, .subscribed, .subscribed, .subscribed, .subscribed, .subscribedByOffer, .migrated, .boughtOnce,
    ]

    /// The most frequent events, so that rare events meet a purchase with access.
    private static let frequent: [Action] = [
        .event(.renewed), .event(.renewed), .event(.renewed), .event(.upgraded), .event(.refunded), .event(.refunded),
        .event(.billingFailedWithGrace), .event(.billingFailed), .event(.billingRecovered), .event(.refundReversed),
        .event(.resubscribed), .event(.consumptionRequested), .event(.downgradeChosen), .addSeats, .resend,
        .signTransaction, .signRenewalInfo,
    ]

    static func scenario(seed: UInt64) -> [ScenarioStep] {
        var generator = SeededGenerator(state: seed)
        func step(_ action: Action) -> ScenarioStep {
            ScenarioStep(
                action: action, wait: .random(in: 0..<1000, using: &generator),
                choice: .random(in: 0..<1_000_000, using: &generator))
        }
        let first = step(.event(beginnings.randomElement(using: &generator) ?? .subscribed))
        let count = Int.random(in: 0...24, using: &generator)
        return [first]
            + (0..<count).map { _ in
                let isFrequent = Int.random(in: 0..<3, using: &generator) > 0
                let rare = Action.event(EventType.allCases.randomElement(using: &generator) ?? .renewed)
                return step(isFrequent ? frequent.randomElement(using: &generator) ?? rare : rare)
            }
    }

    /// The shortest scenario found that still fails: steps are removed one by one as long as it does.
    static func shrunk(_ steps: [ScenarioStep], while fails: ([ScenarioStep]) -> Bool) -> [ScenarioStep] {
        var steps = steps
        var index = steps.count - 1
        while index >= 0 {
            var fewer = steps
            fewer.remove(at: index)
            if fails(fewer) {
                steps = fewer
                index = steps.count
            }
            index -= 1
        }
        return steps
    }
}
