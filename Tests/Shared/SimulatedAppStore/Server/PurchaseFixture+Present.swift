import Contracts
import Foundation

@testable import SimulatedAppStore

/// Purchases in the present of the other fixtures.
extension PurchaseFixture {
    /// Begins long enough ago that a dozen steps lie in the past.
    init(_ app: App = SimulatorFixture.production, seed: UInt64 = 1, daysAgo: Double = 200) {
        let timeScale = TimeScale(environment: app.environment, scale: 1)
        self.init(
            app, seed: seed, beginning: SimulatorFixture.beginning.adding(-timeScale.scaled(daysAgo * 86_400)))
    }

    /// A customer who bought a consumable.
    static func charge(_ app: App = SimulatorFixture.production, seed: UInt64) -> EventPayload {
        var sample = SampleHistory(of: app, seed: seed, now: SimulatorFixture.beginning)
        return sample.charge()
    }

    /// First subscriptions of as many customers as wanted.
    static func subscriptions(_ count: Int, of app: App = SimulatorFixture.production) -> [EventPayload] {
        (0..<count).map { index in
            var story = PurchaseFixture(app, seed: UInt64(1000 + index))
            return story.next(.subscribe)
        }
    }
}
