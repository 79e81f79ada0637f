import AppStore

import struct Foundation.Date

/// Leads a purchase through given events, for one payload of a kind.
struct SampleHistory: Sendable {
    private let app: App
    private let now: Date
    private var random: SeededRandom
    private var identities: Identities

    init(of app: App, seed: UInt64, now: Date) {
        self.app = app
        self.now = now
        random = SeededRandom(seed: seed)
        identities = Identities(seed: seed, now: now)
    }

    /// The payload of the last event. The purchase began so long ago that two months' worth of events lie in the past.
    /// - Parameter events: each permitted after the one before, the first `subscribe`.
    mutating func payload(after events: [LifecycleEvent]) -> EventPayload {
        let timeScale = TimeScale(environment: app.environment)
        let customer = Customer(of: app, random: &random, identities: &identities)
        var purchase = SimulatedPurchase(
            of: customer, timeScale: timeScale, beginning: now.adding(-timeScale.scaled(100 * 86_400)))
        let product = Product.subscriptions[1]
        var newest: EventPayload?
        for event in events {
            let soon = purchase.now.adding(timeScale.scaled(3600))
            let date = event.waitsForExpiry ? max(purchase.purchase?.expiresDate ?? soon, soon) : soon
            guard let payload = purchase.apply(event, at: date, product: product, identities: &identities) else {
                preconditionFailure("\(event) cannot follow in \(events)")
            }
            newest = payload
        }
        guard let newest else { preconditionFailure("a purchase without events has no payload") }
        return newest
    }

    mutating func charge() -> EventPayload {
        let customer = Customer(of: app, random: &random, identities: &identities)
        var purchase = SimulatedPurchase(
            of: customer, timeScale: TimeScale(environment: app.environment), beginning: now.adding(-61))
        let payload = purchase.apply(
            .buy, at: now.adding(-60), product: Product.consumables[0], identities: &identities)
        guard let payload else { preconditionFailure("a first purchase is always permitted") }
        return payload
    }

    mutating func test() -> EventPayload {
        EventPayload(uuid: identities.uuid(), kind: .test, app: app, signedDate: now.adding(-1))
    }

    mutating func unreportedToken() -> EventPayload {
        let kind = NotificationKind(.externalPurchaseToken, .unreported)
        var payload = EventPayload(uuid: identities.uuid(), kind: kind, app: app, signedDate: now.adding(-1))
        payload.object = .externalPurchaseToken(ExternalPurchaseToken(in: payload, id: identities.uuid()))
        return payload
    }
}

extension LifecycleEvent {
    /// Whether it happens at the end of the paid period and not before.
    var waitsForExpiry: Bool {
        switch self {
        case .renew, .failToRenew, .failToRenewWithGrace, .expireVoluntarily, .expireAfterPriceIncrease,
            .expireProductNotForSale, .expireOtherwise, .renewInANewWay:
            true
        default: false
        }
    }
}
