import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Many purchases at once: an endless source of events, the same for the same seed and the same moment.
///
/// Each simulated begins somewhere in the past and stops short of the present, because nobody signs in the future; whoever
/// is through is replaced by somebody new. So the events of one simulated come in order, and those of different purchases mix.
struct Population: Sendable {
    /// How far back purchases begin. Within Apple's history (180 and 30 days) and what a verifier accepts as signedDate
    /// (400 days).
    private static let productionSpan = 390.0 * 86_400
    private static let sandboxSpan = 29.0 * 86_400
    /// One-time purchases that may yet be refunded.
    private static let rememberedCharges = 64

    private let apps: [App]
    private let timeScale: Double
    private var random: SeededRandom
    private var generator: EventGenerator
    private var identities: Identities
    private var purchases: [SimulatedPurchase?]
    private var charges: [(customer: Customer, purchase: Purchase)] = []

    /// - Parameters:
    ///   - apps: at least one.
    ///   - size: purchases at once, at least one.
    ///   - timeScale: see ``TimeScale``.
    ///   - now: enters the identities, see ``Identities``.
    init(apps: [App], size: Int, timeScale: Double, seed: UInt64, now: Date) {
        self.apps = apps
        self.timeScale = timeScale
        random = SeededRandom(seed: seed)
        generator = EventGenerator(random: SeededRandom(seed: random.next()))
        identities = Identities(seed: seed, now: now)
        purchases = Array(repeating: nil, count: size)
    }

    /// The next event, whoever it is about.
    /// - Parameter now: nothing is signed after it.
    mutating func next(now: Date) -> EventPayload {
        let roll = random.fraction()
        if roll < 0.005 { return test(now: now) }
        if roll < 0.035 { return charge(now: now) }
        let index = random.index(below: purchases.count)
        if let event = proceed(index, now: now) { return event }
        return begin(index, now: now)
    }

    /// What a forger would like us to believe of somebody: a refund that never was, just after the newest news. The simulated
    /// itself goes on untouched.
    mutating func counterfeit(now: Date) -> EventPayload {
        guard let simulated = purchases[random.index(below: purchases.count)], simulated.purchase != nil else {
            return test(now: now)
        }
        var event = EventPayload(
            uuid: identities.uuid(), kind: .refund, app: simulated.customer.app, customer: simulated.customer,
            signedDate: simulated.now.adding(0.001), status: 5, purchase: simulated.purchase, renewal: simulated.renewal
        )
        event.purchase?.revocationDate = simulated.now
        event.purchase?.revocationReason = 0
        return event
    }

    /// Lets active subscriptions end later. Whose simulated is not led any more goes on from the newest event about it.
    /// - Parameters:
    ///   - subscriptions: the newest event about each.
    ///   - now: nothing is signed after it.
    /// - Returns: in the same order, what Apple would send; nil where it is not active.
    mutating func extend(_ subscriptions: [EventPayload], byDays days: Int, now: Date) -> [EventPayload?] {
        let places = places(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            guard let purchase = newest.purchase else { return nil }
            let seconds = TimeScale(environment: newest.app.environment, scale: timeScale).scaled(Double(days) * 86_400)
            if let place = places[purchase.originalTransactionId], let simulated = purchases[place] {
                return purchases[place]?.extend(by: seconds, at: simulated.now.adding(0.001), identities: &identities)
            }
            guard newest.status == 1, let end = purchase.expiresDate else { return nil }
            var event = newest
            event.uuid = identities.uuid()
            event.kind = .extended
            event.signedDate = max(now, newest.signedDate.adding(0.001))
            event.purchase?.expiresDate = end.adding(seconds)
            return event
        }
    }

    /// What Apple says about subscriptions without changing them.
    /// - Parameter subscriptions: the newest event about each.
    mutating func announce(_ kind: NotificationKind, about subscriptions: [EventPayload]) -> [EventPayload] {
        let places = places(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            let place = newest.purchase.flatMap { places[$0.originalTransactionId] }
            if let place, let now = purchases[place]?.now,
                let event = purchases[place]?.announce(kind, at: now.adding(0.001), identities: &identities)
            {
                return event
            }
            var event = newest
            event.uuid = identities.uuid()
            event.kind = kind
            event.signedDate = newest.signedDate.adding(0.001)
            return event
        }
    }

    /// Says whose purchases these are from now on.
    mutating func assign(_ appAccountToken: UUID, to originalTransactionId: String) {
        guard let place = places(of: [originalTransactionId]).values.first else { return }
        purchases[place]?.assign(appAccountToken)
    }

    /// An identity for a event that is about nobody's simulated.
    mutating func uuid() -> UUID { identities.uuid() }

    private func places(of ids: Set<String>) -> [String: Int] {
        var places: [String: Int] = [:]
        for (place, simulated) in purchases.enumerated() {
            if let id = simulated?.purchase?.originalTransactionId, ids.contains(id) { places[id] = place }
        }
        return places
    }

    private mutating func proceed(_ index: Int, now: Date) -> EventPayload? {
        guard let simulated = purchases[index], let decision = generator.next(in: simulated), decision.date <= now
        else { return nil }
        return purchases[index]?.apply(
            decision.event, at: decision.date, product: decision.product, identities: &identities)
    }

    private mutating func begin(_ index: Int, now: Date) -> EventPayload {
        let app = random.element(of: apps)
        let customer = Customer(of: app, random: &random, identities: &identities)
        let timeScale = TimeScale(environment: app.environment, scale: timeScale)
        let beginning = somewhere(before: now, in: app.environment)
        var simulated = SimulatedPurchase(of: customer, timeScale: timeScale, beginning: beginning)
        let product = random.element(of: Product.subscriptions)
        let date = beginning.adding(0.001)
        guard let event = simulated.apply(.subscribe, at: date, product: product, identities: &identities) else {
            preconditionFailure("the unborn can always subscribe")
        }
        purchases[index] = simulated
        return event
    }

    private mutating func somewhere(before now: Date, in environment: StoreEnvironment) -> Date {
        let span = environment == .production ? Self.productionSpan : Self.sandboxSpan
        return now.adding(-1 - span * random.fraction())
    }

    private mutating func test(now: Date) -> EventPayload {
        let app = random.element(of: apps)
        return EventPayload(
            uuid: identities.uuid(), kind: .test, app: app,
            signedDate: somewhere(before: now, in: app.environment))
    }

    /// A purchase of something consumable, or the refund of an earlier one.
    private mutating func charge(now: Date) -> EventPayload {
        if !charges.isEmpty, random.chance(0.2) {
            var (customer, purchase) = charges.remove(at: random.index(below: charges.count))
            let room = now.timeIntervalSince(purchase.purchaseDate)
            let date = max(
                purchase.purchaseDate.adding(room * random.fraction()), purchase.purchaseDate.adding(0.001))
            purchase.revocationDate = date
            purchase.revocationReason = 0
            return event(.refund, of: purchase, by: customer, at: date)
        }
        let app = random.element(of: apps)
        let customer = Customer(of: app, random: &random, identities: &identities)
        let id = identities.transactionId(in: app.environment)
        let date = somewhere(before: now, in: app.environment)
        let purchase = Purchase(
            originalTransactionId: id, transactionId: id, product: random.element(of: Product.consumables),
            purchaseDate: date, originalPurchaseDate: date, reason: .purchase)
        charges.append((customer, purchase))
        if charges.count > Self.rememberedCharges { charges.removeFirst() }
        return event(.oneTimeCharge, of: purchase, by: customer, at: date)
    }

    private mutating func event(
        _ kind: NotificationKind, of purchase: Purchase, by customer: Customer, at date: Date
    ) -> EventPayload {
        EventPayload(
            uuid: identities.uuid(), kind: kind, app: customer.app, customer: customer,
            signedDate: date, purchase: purchase)
    }
}
