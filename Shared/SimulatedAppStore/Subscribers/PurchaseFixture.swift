import Foundation

/// The simulated purchase of one customer, step by step, an hour between the steps unless the step waits for the end of a period.
struct PurchaseFixture {
    static let product = Product.subscriptions[1]

    private var random: SeededRandom
    private var identities: Identities
    private(set) var simulated: SimulatedPurchase

    /// - Parameters:
    ///   - seed: equal ones have equal customers.
    ///   - beginning: when the customer appears; the first step comes an hour later.
    init(_ app: App, seed: UInt64, beginning: Date) {
        random = SeededRandom(seed: seed)
        identities = Identities(seed: seed, now: beginning)
        let customer = Customer(of: app, random: &random, identities: &identities)
        simulated = SimulatedPurchase(
            of: customer, timeScale: TimeScale(environment: app.environment, scale: 1), beginning: beginning)
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
}
