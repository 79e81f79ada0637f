import Contracts

import struct Foundation.Date

/// A named sequence of events: which customer does what, and when.
struct Scenario: Sendable {
    /// When a step happens.
    enum Moment: Sendable {
        /// Hours of real time after the step before.
        case after(hours: Double)
        /// Hours of real time after the end of the paid period; negative is before it.
        case periodEnd(plusHours: Double)
        /// Hours of real time after the end of grace.
        case graceEnd(plusHours: Double)
    }

    struct Step: Sendable {
        var event: LifecycleEvent
        var moment: Moment
        /// The actor of the step; see ``Scenario/cast``.
        var actor = 0
        var product: Product?
        var offer: Offer?
    }

    /// A customer with one purchase of the app.
    struct Actor: Sendable {
        /// The actor whose Apple account it shares; nil is a new one.
        var appleAccountOf: Int?
        /// Other than `purchased`, it has access by another customer's purchase.
        var ownership = Customer.Ownership.purchased
        /// The app knows it under another account than the actor before on the same Apple account.
        var hasOwnToken = false
    }

    /// Its name on the command line and in a mix.
    var name: String
    /// What happens, in one sentence.
    var summary: String
    /// At least one.
    var cast = [Actor()]
    var steps: [Step]
}

/// One play of a scenario in one app: pure, like the purchases in it.
struct ScenarioPlay: Sendable {
    let scenario: Scenario
    private(set) var purchases: [SimulatedPurchase]
    private var played = 0
    /// A developer's request may have made the next steps impossible.
    private var isChanged = false
    private var now: Date

    /// - Parameter beginning: before the first step.
    init(
        _ scenario: Scenario, in app: App, timeScale: TimeScale, beginning: Date, random: inout SeededRandom,
        identities: inout Identities
    ) {
        self.scenario = scenario
        now = beginning
        // Whether there is grace is part of the scenario.
        var timeScale = timeScale
        timeScale.graceDays = timeScale.graceDays ?? 16
        var customers: [Customer] = []
        for actor in scenario.cast {
            var customer = Customer(of: app, random: &random, identities: &identities)
            // A scenario is about accounts: its buyers have one.
            if customer.appAccountToken == nil { customer.appAccountToken = identities.uuid() }
            if let place = actor.appleAccountOf {
                let token = customer.appAccountToken
                customer = customers[place]
                if actor.hasOwnToken { customer.appAccountToken = token }
            }
            if actor.ownership != .purchased {
                customer = customer.sharing(actor.ownership, identities: &identities)
            }
            customers.append(customer)
        }
        purchases = customers.map { SimulatedPurchase(of: $0, timeScale: timeScale, beginning: beginning) }
    }

    var isOver: Bool { played == scenario.steps.count }

    /// When the next step happens; nil when all are played.
    var nextDate: Date? {
        guard !isOver else { return nil }
        let step = scenario.steps[played]
        let purchase = purchases[step.actor]
        let date: Date =
            switch step.moment {
            case .after(let hours): now.adding(purchase.timeScale.scaled(hours * 3600))
            case .periodEnd(let hours): (purchase.purchase?.expiresDate ?? now).adding(hours, in: purchase.timeScale)
            case .graceEnd(let hours): (purchase.renewal?.graceExpiresDate ?? now).adding(hours, in: purchase.timeScale)
            }
        return max(date, now.adding(0.001), purchase.now.adding(0.001))
    }

    /// Changes one of its purchases by a request of the developer.
    mutating func change<Result>(
        _ originalTransactionId: String, _ body: (inout SimulatedPurchase) -> Result?
    ) -> Result? {
        guard
            let place = purchases.firstIndex(where: {
                $0.purchase?.originalTransactionId == originalTransactionId
            })
        else { return nil }
        isChanged = true
        return body(&purchases[place])
    }

    /// Plays the next step.
    /// - Returns: nil when all are played, or when a developer's request ended the purchase.
    mutating func next(identities: inout Identities) -> EventPayload? {
        guard let date = nextDate else { return nil }
        let step = scenario.steps[played]
        let product = step.product ?? Product.subscriptions[1]
        let payload = purchases[step.actor].apply(
            step.event, at: date, product: product, offer: step.offer, identities: &identities)
        guard let payload else {
            if isChanged {
                played = scenario.steps.count
                return nil
            }
            preconditionFailure("scenario \(scenario.name): step \(played + 1), \(step.event), is not possible")
        }
        played += 1
        now = date
        return payload
    }
}

extension Date {
    fileprivate func adding(_ hours: Double, in timeScale: TimeScale) -> Date {
        adding((hours < 0 ? -1 : 1) * timeScale.scaled(abs(hours) * 3600))
    }
}
