import struct Foundation.Date

/// A life led through given events, for one notice of a wanted kind.
struct Biography: Sendable {
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

    /// The notice of the last event. The life began so long ago that two months' worth of events lie in the past.
    /// - Parameter events: each permitted after the one before, the first `subscribe`.
    mutating func notice(after events: [LifeEvent]) -> Notice {
        let tempo = Tempo(environment: app.environment, scale: 1)
        let customer = Customer(of: app, random: &random, identities: &identities)
        var life = Life(of: customer, tempo: tempo, beginning: now.adding(-tempo.scaled(100 * 86_400)))
        let product = Product.subscriptions[1]
        var newest: Notice?
        for event in events {
            let soon = life.now.adding(tempo.scaled(3600))
            let date = event.waitsForExpiry ? max(life.purchase?.expiresDate ?? soon, soon) : soon
            guard let notice = life.undergo(event, at: date, product: product, identities: &identities) else {
                preconditionFailure("\(event) cannot follow in \(events)")
            }
            newest = notice
        }
        guard let newest else { preconditionFailure("a life without events has no notice") }
        return newest
    }

    mutating func charge() -> Notice {
        let customer = Customer(of: app, random: &random, identities: &identities)
        let id = identities.transactionId(in: app.environment)
        let date = now.adding(-60)
        return Notice(
            uuid: identities.uuid(), announcement: .oneTimeCharge, app: app, customer: customer, signedDate: date,
            purchase: Purchase(
                originalTransactionId: id, transactionId: id, product: Product.consumables[0], purchaseDate: date,
                originalPurchaseDate: date, reason: .purchase))
    }

    mutating func test() -> Notice {
        Notice(uuid: identities.uuid(), announcement: .test, app: app, signedDate: now.adding(-1))
    }
}

extension LifeEvent {
    /// Whether it happens at the end of the paid period and not before.
    var waitsForExpiry: Bool {
        switch self {
        case .renew, .failToRenew, .failToRenewWithGrace, .expireVoluntarily: true
        default: false
        }
    }
}
