import Contracts
import Foundation

@testable import Simulator

/// One customer's life, step by step, an hour between the steps unless the step waits for the end of a period.
struct Story {
    private static let product = Product.subscriptions[1]

    private var random: SeededRandom
    private var identities: Identities
    private(set) var life: Life

    /// Begins long enough ago that a dozen steps lie in the past.
    init(_ app: App = Desk.production, seed: UInt64 = 1, daysAgo: Double = 200) {
        random = SeededRandom(seed: seed)
        identities = Identities(seed: seed, now: Desk.beginning)
        let customer = Customer(of: app, random: &random, identities: &identities)
        let tempo = Tempo(environment: app.environment, scale: 1)
        life = Life(of: customer, tempo: tempo, beginning: Desk.beginning.adding(-tempo.scaled(daysAgo * 86_400)))
    }

    var id: String { life.purchase?.originalTransactionId ?? "" }
    var transactionId: String { life.purchase?.transactionId ?? "" }

    /// The notice of the next step, which must be possible.
    mutating func next(_ event: LifeEvent, product: Product = product) -> Notice {
        let soon = life.now.adding(life.tempo.scaled(3600))
        let date = event.waitsForExpiry ? max(life.purchase?.expiresDate ?? soon, soon) : soon
        guard let notice = life.undergo(event, at: date, product: product, identities: &identities) else {
            preconditionFailure("\(event) is not possible now")
        }
        return notice
    }

    /// A consumable, bought by somebody.
    static func charge(_ app: App = Desk.production, seed: UInt64) -> Notice {
        var biography = Biography(of: app, seed: seed, now: Desk.beginning)
        return biography.charge()
    }

    /// As many first subscriptions as wanted, each another customer's.
    static func subscriptions(_ count: Int, of app: App = Desk.production) -> [Notice] {
        (0..<count).map { index in
            var story = Story(app, seed: UInt64(1000 + index))
            return story.next(.subscribe)
        }
    }
}
