import Foundation
import Subscriptions
import Testing

@testable import TestSupport

/// `ACCESS_SCENARIOS=100000 ACCESS_SEED=1 swift test --filter ScenarioTests` checks more scenarios or others. A failure
/// names the shortest scenario found that shows it, and its seed.
extension ScenarioStep {
    static let count = UInt64(ProcessInfo.processInfo.environment["ACCESS_SCENARIOS"] ?? "") ?? 1500
    static let seed = UInt64(ProcessInfo.processInfo.environment["ACCESS_SEED"] ?? "") ?? 0

    /// Runs a check over many scenarios and shrinks the first ten that fail. The check says what is wrong, nil if nothing.
    static func check(_ offset: UInt64, _ problem: ([ScenarioStep], UInt64) -> String?) {
        var found = 0
        for number in 0..<count where found < 10 {
            let seed = seed &* 1_000_000 &+ offset &* 1_000_000_007 &+ number
            let steps = scenario(seed: seed)
            guard problem(steps, seed) != nil else { continue }
            let shortest = shrunk(steps) { problem($0, seed) != nil }
            let events = SimulatedPurchase(shortest).events.map(AccessScenarioTests.describe).joined(separator: "\n  ")
            Issue.record(
                """
                seed \(seed): \(problem(shortest, seed) ?? "")
                \(shortest.map(\.description).joined(separator: "\n"))
                  \(events)
                """)
            found += 1
        }
    }
}
