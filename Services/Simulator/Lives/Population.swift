import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Many lives at once: an endless source of notices, the same for the same seed and the same moment.
///
/// Each life begins somewhere in the past and stops short of the present, because nobody signs in the future; whoever
/// is through is replaced by somebody new. So the notices of one life come in order, and those of different lives mix.
struct Population: Sendable {
    /// How far back lives begin. Within Apple's history (180 and 30 days) and what a verifier accepts as signedDate
    /// (400 days).
    private static let productionSpan = 390.0 * 86_400
    private static let sandboxSpan = 29.0 * 86_400
    /// One-time purchases that may yet be refunded.
    private static let rememberedCharges = 64

    private let apps: [App]
    private let timeScale: Double
    private var random: SeededRandom
    private var fate: Fate
    private var identities: Identities
    private var lives: [Life?]
    private var charges: [(customer: Customer, purchase: Purchase)] = []

    /// - Parameters:
    ///   - apps: at least one.
    ///   - size: lives at once, at least one.
    ///   - timeScale: see ``Tempo``.
    ///   - now: enters the identities, see ``Identities``.
    init(apps: [App], size: Int, timeScale: Double, seed: UInt64, now: Date) {
        self.apps = apps
        self.timeScale = timeScale
        random = SeededRandom(seed: seed)
        fate = Fate(random: SeededRandom(seed: random.next()))
        identities = Identities(seed: seed, now: now)
        lives = Array(repeating: nil, count: size)
    }

    /// The next notice, whoever it is about.
    /// - Parameter now: nothing is signed after it.
    mutating func next(now: Date) -> Notice {
        let roll = random.fraction()
        if roll < 0.005 { return test(now: now) }
        if roll < 0.035 { return charge(now: now) }
        let index = random.index(below: lives.count)
        if let notice = proceed(index, now: now) { return notice }
        return begin(index, now: now)
    }

    /// What a forger would like us to believe of somebody: a refund that never was, just after the newest news. The life
    /// itself goes on untouched.
    mutating func counterfeit(now: Date) -> Notice {
        guard let life = lives[random.index(below: lives.count)], life.purchase != nil else { return test(now: now) }
        var notice = Notice(
            uuid: identities.uuid(), announcement: .refund, app: life.customer.app, customer: life.customer,
            signedDate: life.now.adding(0.001), status: 5, purchase: life.purchase, renewal: life.renewal)
        notice.purchase?.revocationDate = life.now
        notice.purchase?.revocationReason = 0
        return notice
    }

    /// Lets active subscriptions end later. Whose life is not led any more goes on from the newest notice about it.
    /// - Parameters:
    ///   - subscriptions: the newest notice about each.
    ///   - now: nothing is signed after it.
    /// - Returns: in the same order, what Apple would send; nil where it is not active.
    mutating func extend(_ subscriptions: [Notice], byDays days: Int, now: Date) -> [Notice?] {
        let places = places(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            guard let purchase = newest.purchase else { return nil }
            let seconds = Tempo(environment: newest.app.environment, scale: timeScale).scaled(Double(days) * 86_400)
            if let place = places[purchase.originalTransactionId], let life = lives[place] {
                return lives[place]?.extend(by: seconds, at: life.now.adding(0.001), identities: &identities)
            }
            guard newest.status == 1, let end = purchase.expiresDate else { return nil }
            var notice = newest
            notice.uuid = identities.uuid()
            notice.announcement = .extended
            notice.signedDate = max(now, newest.signedDate.adding(0.001))
            notice.purchase?.expiresDate = end.adding(seconds)
            return notice
        }
    }

    /// What Apple says about subscriptions without changing them.
    /// - Parameter subscriptions: the newest notice about each.
    mutating func announce(_ announcement: Announcement, about subscriptions: [Notice]) -> [Notice] {
        let places = places(of: Set(subscriptions.compactMap { $0.purchase?.originalTransactionId }))
        return subscriptions.map { newest in
            let place = newest.purchase.flatMap { places[$0.originalTransactionId] }
            if let place, let now = lives[place]?.now,
                let notice = lives[place]?.announce(announcement, at: now.adding(0.001), identities: &identities)
            {
                return notice
            }
            var notice = newest
            notice.uuid = identities.uuid()
            notice.announcement = announcement
            notice.signedDate = newest.signedDate.adding(0.001)
            return notice
        }
    }

    /// Says whose purchases these are from now on.
    mutating func assign(_ appAccountToken: UUID, to originalTransactionId: String) {
        guard let place = places(of: [originalTransactionId]).values.first else { return }
        lives[place]?.assign(appAccountToken)
    }

    /// An identity for a notice that is about nobody's life.
    mutating func uuid() -> UUID { identities.uuid() }

    private func places(of ids: Set<String>) -> [String: Int] {
        var places: [String: Int] = [:]
        for (place, life) in lives.enumerated() {
            if let id = life?.purchase?.originalTransactionId, ids.contains(id) { places[id] = place }
        }
        return places
    }

    private mutating func proceed(_ index: Int, now: Date) -> Notice? {
        guard let life = lives[index], let decision = fate.next(in: life), decision.date <= now else { return nil }
        return lives[index]?.undergo(
            decision.event, at: decision.date, product: decision.product, identities: &identities)
    }

    private mutating func begin(_ index: Int, now: Date) -> Notice {
        let app = random.element(of: apps)
        let customer = Customer(of: app, random: &random, identities: &identities)
        let tempo = Tempo(environment: app.environment, scale: timeScale)
        let beginning = somewhere(before: now, in: app.environment)
        var life = Life(of: customer, tempo: tempo, beginning: beginning)
        let product = random.element(of: Product.subscriptions)
        let date = beginning.adding(0.001)
        guard let notice = life.undergo(.subscribe, at: date, product: product, identities: &identities) else {
            preconditionFailure("the unborn can always subscribe")
        }
        lives[index] = life
        return notice
    }

    private mutating func somewhere(before now: Date, in environment: StoreEnvironment) -> Date {
        let span = environment == .production ? Self.productionSpan : Self.sandboxSpan
        return now.adding(-1 - span * random.fraction())
    }

    private mutating func test(now: Date) -> Notice {
        let app = random.element(of: apps)
        return Notice(
            uuid: identities.uuid(), announcement: .test, app: app,
            signedDate: somewhere(before: now, in: app.environment))
    }

    /// A purchase of something consumable, or the refund of an earlier one.
    private mutating func charge(now: Date) -> Notice {
        if !charges.isEmpty, random.chance(0.2) {
            var (customer, purchase) = charges.remove(at: random.index(below: charges.count))
            let room = now.timeIntervalSince(purchase.purchaseDate)
            let date = max(
                purchase.purchaseDate.adding(room * random.fraction()), purchase.purchaseDate.adding(0.001))
            purchase.revocationDate = date
            purchase.revocationReason = 0
            return notice(.refund, of: purchase, by: customer, at: date)
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
        return notice(.oneTimeCharge, of: purchase, by: customer, at: date)
    }

    private mutating func notice(
        _ announcement: Announcement, of purchase: Purchase, by customer: Customer, at date: Date
    ) -> Notice {
        Notice(
            uuid: identities.uuid(), announcement: announcement, app: customer.app, customer: customer,
            signedDate: date, purchase: purchase)
    }
}
