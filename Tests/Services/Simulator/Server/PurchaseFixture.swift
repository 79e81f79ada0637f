import Contracts
import Foundation

@testable import Simulator

/// The simulated purchase of one customer, step by step, an hour between the steps unless the step waits for the end of a period.
struct PurchaseFixture {
    private static let product = Product.subscriptions[1]

    private var random: SeededRandom
    private var identities: Identities
    private(set) var simulated: SimulatedPurchase

    /// Begins long enough ago that a dozen steps lie in the past.
    init(_ app: App = SimulatorFixture.production, seed: UInt64 = 1, daysAgo: Double = 200) {
        random = SeededRandom(seed: seed)
        identities = Identities(seed: seed, now: SimulatorFixture.beginning)
        let customer = Customer(of: app, random: &random, identities: &identities)
        let timeScale = TimeScale(environment: app.environment, scale: 1)
        simulated = SimulatedPurchase(
            of: customer, timeScale: timeScale,
            beginning: SimulatorFixture.beginning.adding(-timeScale.scaled(daysAgo * 86_400)))
    }

    var id: String { simulated.purchase?.originalTransactionId ?? "" }
    var transactionId: String { simulated.purchase?.transactionId ?? "" }

    /// The event of the next step, which must be possible.
    mutating func next(_ event: LifecycleEvent, product: Product = product) -> EventPayload {
        let soon = simulated.now.adding(simulated.timeScale.scaled(3600))
        let date = event.waitsForExpiry ? max(simulated.purchase?.expiresDate ?? soon, soon) : soon
        guard let event = simulated.apply(event, at: date, product: product, identities: &identities) else {
            preconditionFailure("\(event) is not possible now")
        }
        return event
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
