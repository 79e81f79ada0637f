import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Many concurrent purchases: an endless source of payloads, equal for equal seeds and moments.
///
/// Each place holds one play of a scenario, or a purchase without one. It begins somewhere in the past and stops before the
/// present, because Apple signs nothing in the future; a finished one is replaced. So the payloads of one purchase are in
/// order, and those of different ones are mixed.
struct Population: Sendable {
    private enum Place: Sendable {
        case free(SimulatedPurchase)
        case scenario(ScenarioPlay)

        var purchases: [SimulatedPurchase] {
            switch self {
            case .free(let purchase): [purchase]
            case .scenario(let play): play.purchases
            }
        }
    }

    let apps: [App]
    private let mix: ScenarioMix
    private let conditions: Conditions
    var random: SeededRandom
    private var generator: EventGenerator
    var identities: Identities
    private var places: [Place?]
    /// Made by command; their indices follow those of the places.
    var manual: ManualPurchases
    /// Nil where refund requests lie in the past.
    private var openRefunds: OpenRefunds?

    /// - Parameters:
    ///   - apps: at least one.
    ///   - size: number of concurrent purchases, at least one.
    ///   - now: part of the ids, see ``Identities``.
    init(
        apps: [App], size: Int, conditions: Conditions = Conditions(), mix: ScenarioMix = .everything, seed: UInt64,
        now: Date
    ) {
        self.apps = apps
        self.mix = mix
        self.conditions = conditions
        random = SeededRandom(seed: seed)
        generator = EventGenerator(random: SeededRandom(seed: random.next()))
        identities = Identities(seed: seed, now: now)
        places = Array(repeating: nil, count: size)
        manual = ManualPurchases(seed: seed, now: now)
        openRefunds = conditions.refundScale.map { OpenRefunds(seed: seed, scale: $0) }
    }

    /// How long the periods of purchases in an environment are.
    func timeScale(in environment: StoreEnvironment) -> TimeScale { conditions.timeScale(in: environment) }

    /// The next payload.
    /// - Parameter now: nothing is signed after it.
    mutating func next(now: Date) -> EventPayload {
        if let payload = openRefunds?.next(now: now, identities: &identities) { return payload }
        if mix.hasAppEvents, random.chance(0.02) { return appEvent(now: now) }
        let index = random.index(below: places.count)
        if let payload = proceed(index, now: now) { return payload }
        return begin(index, now: now)
    }

    /// The content of a forgery: a refund that never happened, just after the newest payload. The purchase itself stays
    /// unchanged.
    mutating func counterfeit(now: Date) -> EventPayload {
        let purchases = places[random.index(below: places.count)]?.purchases ?? []
        guard let purchase = purchases.first(where: { $0.purchase != nil }) else { return test(now: now) }
        var payload = EventPayload(
            uuid: identities.uuid(), kind: .refund, app: purchase.customer.app, customer: purchase.customer,
            signedDate: purchase.now.adding(0.001), status: 5, purchase: purchase.purchase, renewal: purchase.renewal)
        payload.purchase?.revocation = Purchase.Revocation(date: purchase.now, reason: 0, type: .refundFull)
        return payload
    }

    private mutating func proceed(_ index: Int, now: Date) -> EventPayload? {
        // Taken out and put back, so that a change copies nothing.
        guard let place = places[index] else { return nil }
        places[index] = nil
        switch place {
        case .free(var purchase):
            guard let decision = decide(purchase, now: now), decision.date <= now else { return nil }
            let payload = purchase.apply(
                decision.event, at: decision.date, product: decision.product, offer: decision.offer,
                identities: &identities)
            guard payload != nil else { return nil }
            if openRefunds != nil, decision.event.isRefundRequest {
                openRefunds?.add(purchase)
            } else {
                places[index] = .free(purchase)
            }
            return payload
        case .scenario(var play):
            guard let date = play.nextDate, date <= now else { return nil }
            let payload = play.next(identities: &identities)
            places[index] = .scenario(play)
            return payload
        }
    }

    /// The next event of a purchase. A refund is asked for in the present where it is to be answered, if the purchase stands until
    /// Apple has decided.
    private mutating func decide(_ purchase: SimulatedPurchase, now: Date) -> Decision? {
        guard let openRefunds else { return generator.next(in: purchase) }
        let end = purchase.purchase?.expiresDate ?? .distantFuture
        // Most customers do not ask, so another event comes soon.
        for _ in 0..<20 {
            guard var decision = generator.next(in: purchase) else { return nil }
            guard decision.event.isRefundRequest else { return decision }
            guard end > now.addingTimeInterval(openRefunds.longest) else { continue }
            decision.date = Date(milliseconds: now.milliseconds)
            return decision
        }
        return nil
    }

    private mutating func begin(_ index: Int, now: Date) -> EventPayload {
        let app = random.element(of: apps)
        let timeScale = conditions.timeScale(in: app.environment)
        if let scenario = mix.choose(using: &random) {
            return begin(scenario, at: index, in: app, timeScale, now: now)
        }
        var (customer, product) = buyer(in: app)
        if app.environment == .sandbox, conditions.hasSandboxQuirks, random.chance(0.1) {
            customer.quirk = random.chance(0.5) ? .cannotCancel : .renewalsFail(after: random.index(below: 4))
        }
        let beginning = Self.somewhere(before: now, in: app.environment, using: &random)
        var purchase = SimulatedPurchase(of: customer, timeScale: timeScale, beginning: beginning)
        let offer: Offer? =
            customer.ownership == .purchased && product.isSubscription && random.chance(0.3)
            ? .random(.introductory, using: &random) : nil
        let payload = purchase.apply(
            product.isSubscription ? .subscribe : .buy, at: beginning.adding(0.001), product: product, offer: offer,
            identities: &identities)
        guard let payload else { preconditionFailure("a first purchase is always permitted") }
        places[index] = .free(purchase)
        return payload
    }

    private mutating func begin(
        _ scenario: Scenario, at index: Int, in app: App, _ timeScale: TimeScale, now: Date
    ) -> EventPayload {
        // Played once for its length: all of it must lie in the past.
        var trial = ScenarioPlay(
            scenario, in: app, timeScale: timeScale, beginning: now, random: &random, identities: &identities)
        var end = now
        while let date = trial.nextDate {
            end = date
            _ = trial.next(identities: &identities)
        }
        let length = end.timeIntervalSince(now) * 1.1 + timeScale.scaled(4 * 86_400)
        let room = max(0, Self.span(in: app.environment) - length)
        var play = ScenarioPlay(
            scenario, in: app, timeScale: timeScale,
            beginning: now.adding(-1 - min(length, Self.span(in: app.environment)) - room * random.fraction()),
            random: &random, identities: &identities)
        guard let payload = play.next(identities: &identities) else {
            preconditionFailure("scenario \(scenario.name) has no steps")
        }
        places[index] = .scenario(play)
        return payload
    }

    /// A new customer, or a further purchase of an existing one.
    private mutating func buyer(in app: App) -> (Customer, Product) {
        var customer = Customer(of: app, random: &random, identities: &identities)
        let roll = random.fraction()
        let known = places[random.index(below: places.count)]?.purchases.first?.customer
        if roll < 0.12 {
            // Another purchase on the same Apple account, now and then by another account of the app.
            if let known, known.app == app, known.ownership == .purchased {
                let token = customer.appAccountToken
                customer = known
                customer.quirk = nil
                if random.chance(0.2) { customer.appAccountToken = token }
            }
            return (customer, random.element(of: Product.storage + Product.oneTime))
        }
        if roll < 0.20 {
            customer = customer.sharing(.familyShared, identities: &identities)
            let product = random.chance(0.7) ? random.element(of: Product.subscriptions) : Product.nonConsumable
            return (customer, product)
        }
        if roll < 0.22 { return (customer.sharing(.assigned, identities: &identities), Product.team) }
        if roll < 0.26 { return (customer, Product.team) }
        if roll < 0.38 { return (customer, random.element(of: Product.oneTime)) }
        if conditions.hasUnknownProductType, roll < 0.39 { return (customer, Product.bundle) }
        return (customer, random.element(of: Product.subscriptions))
    }
}

// MARK: Requests of the developer

extension Population {
    /// Extends active subscriptions. A purchase that is in no place continues from its newest payload.
    /// - Parameters:
    ///   - subscriptions: the newest payload about each.
    ///   - now: nothing is signed after it.
    /// - Returns: in the same order, the payloads that Apple would send; nil where a subscription cannot be extended.
    mutating func extend(_ subscriptions: [EventPayload], byDays days: Int, now: Date) -> [EventPayload?] {
        let found = indices(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            guard let purchase = newest.purchase else { return nil }
            let seconds = conditions.timeScale(in: newest.app.environment).scaled(Double(days) * 86_400)
            if let index = found[purchase.originalTransactionId] {
                return change(index, purchase.originalTransactionId) { purchase, identities in
                    purchase.extend(by: seconds, at: purchase.now.adding(0.001), identities: &identities)
                }
            }
            guard newest.status == 1, let end = purchase.expiresDate else { return nil }
            var payload = newest
            payload.uuid = identities.uuid()
            payload.kind = .extended
            payload.signedDate = max(now, newest.signedDate.adding(0.001))
            payload.purchase?.expiresDate = end.adding(seconds)
            payload.renewal?.date = end.adding(seconds)
            payload.access = nil
            payload.book = nil
            return payload
        }
    }

    /// Lets an event happen by a request of the developer.
    /// - Parameter event: one that needs no product.
    /// - Returns: nil where the purchase is not active here, or its state does not permit the event.
    mutating func apply(_ event: LifecycleEvent, to originalTransactionId: String, now: Date) -> EventPayload? {
        guard let index = indices(of: [originalTransactionId]).values.first else { return nil }
        return change(index, originalTransactionId) { purchase, identities in
            let product = purchase.purchase?.product ?? Product.subscriptions[0]
            let date = max(now, purchase.now.adding(0.001))
            return purchase.apply(event, at: date, product: product, identities: &identities)
        }
    }

    /// Does what a developer asks for by Advanced Commerce. A purchase that is in no place continues from its newest payload.
    /// - Parameters:
    ///   - purchase: the transaction that it is about.
    ///   - newest: the newest payload about its subscription.
    /// - Returns: nil where it names an item that the transaction has not.
    mutating func apply(
        _ request: CommerceRequest, to purchase: Purchase, of newest: EventPayload, now: Date
    ) -> EventPayload? {
        let id = purchase.originalTransactionId
        if let index = indices(of: [id])[id] {
            return change(index, id) { simulated, identities in
                let date = max(now, simulated.now.adding(0.001))
                return simulated.apply(request, to: purchase.transactionId, at: date, identities: &identities)
            }
        }
        var (payload, shown) = (newest, purchase)
        payload.signedDate = max(now, newest.signedDate.adding(0.001))
        guard request.change(&shown, &payload.renewal, at: payload.signedDate) else { return nil }
        if shown.revocation != purchase.revocation, newest.purchase?.transactionId == purchase.transactionId {
            payload.renewal?.willRenew = false
            if payload.status != nil { payload.status = 5 }
        }
        payload.uuid = identities.uuid()
        payload.kind = request.kind
        payload.purchase = shown
        payload.access = nil
        payload.book = nil
        return payload
    }

    /// Payloads about subscriptions that change nothing.
    /// - Parameter subscriptions: the newest payload about each.
    mutating func announce(_ kind: NotificationKind, about subscriptions: [EventPayload]) -> [EventPayload] {
        let found = indices(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            if let id = newest.purchase?.originalTransactionId, let index = found[id],
                let payload = change(
                    index, id,
                    { purchase, identities in
                        purchase.announce(kind, at: purchase.now.adding(0.001), identities: &identities)
                    })
            {
                return payload
            }
            var payload = newest
            payload.uuid = identities.uuid()
            payload.kind = kind
            payload.signedDate = newest.signedDate.adding(0.001)
            payload.access = nil
            payload.book = nil
            return payload
        }
    }

    /// Sets the account of a purchase from now on.
    mutating func assign(_ appAccountToken: UUID, to originalTransactionId: String) {
        guard let index = indices(of: [originalTransactionId]).values.first else { return }
        _ = change(index, originalTransactionId) { purchase, _ in
            purchase.assign(appAccountToken)
            return nil
        }
    }

    /// Notes consumption information of the developer: Apple does not ask again. A scenario plays its steps all the same.
    mutating func answerConsumptionRequest(of transactionId: String, originalTransactionId: String, at now: Date) {
        if openRefunds?.answer(transactionId, at: now) == true { return }
        guard let index = indices(of: [originalTransactionId]).values.first else { return }
        if index < places.count, case .scenario = places[index] { return }
        _ = change(index, originalTransactionId) { purchase, _ in
            purchase.answerConsumptionRequest(of: transactionId)
            return nil
        }
    }

    /// An id for a payload that is about no purchase.
    mutating func uuid() -> UUID { identities.uuid() }

    private func indices(of ids: Set<String>) -> [String: Int] {
        var found: [String: Int] = [:]
        for (index, place) in places.enumerated() {
            for purchase in place?.purchases ?? [] {
                if let id = purchase.purchase?.originalTransactionId, ids.contains(id) { found[id] = index }
            }
        }
        for (index, purchase) in manual.all.enumerated() {
            if let id = purchase.purchase?.originalTransactionId, ids.contains(id) { found[id] = places.count + index }
        }
        return found
    }

    private mutating func change(
        _ index: Int, _ originalTransactionId: String,
        _ body: (inout SimulatedPurchase, inout Identities) -> EventPayload?
    ) -> EventPayload? {
        guard index < places.count else { return manual.change(index - places.count, body) }
        switch places[index] {
        case .free(var purchase):
            let payload = body(&purchase, &identities)
            places[index] = .free(purchase)
            return payload
        case .scenario(var play):
            let payload = play.change(originalTransactionId) { body(&$0, &identities) }
            places[index] = .scenario(play)
            return payload
        case nil: return nil
        }
    }
}
