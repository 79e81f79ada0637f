import AppStore
import Contracts
import Foundation
import StrictJSON
import Testing

@testable import SimulatedAppStore

@Suite struct ScenarioTests {
    private static let now = Date(milliseconds: 1_790_000_000_000)

    @Test(arguments: Scenario.all.map(\.name), [StoreEnvironment.production, .sandbox])
    func `Every scenario plays to its end, and its periods of access never overlap`(
        name: String, environment: StoreEnvironment
    ) throws {
        let (events, play) = try Self.play(name, in: environment)
        #expect(events.count == play.scenario.steps.count)
        #expect(zip(events, events.dropFirst()).allSatisfy { $0.signedDate < $1.signedDate })
        for purchase in play.purchases {
            let periods = purchase.access.periods
            for (period, next) in zip(periods, periods.dropFirst()) {
                #expect(try #require(period.end) <= next.start)
            }
        }
    }

    @Test func `Names of scenarios are unique`() {
        #expect(Set(Scenario.all.map(\.name)).count == Scenario.all.count)
    }

    @Test func `Upgrade ends a period that was charged early before it begins`() throws {
        let (events, play) = try Self.play("early-renewal-then-upgrade")
        let upgrade = events[2].signedDate
        let periods = play.purchases[0].access.periods
        #expect(periods.map(\.product) == [.basic, .premium, .premium])
        #expect(periods[0].end == upgrade)
        #expect(periods[1].start == upgrade)
    }

    @Test func `Refunded upgrade gives back nothing of what it replaced`() throws {
        let (events, play) = try Self.play("upgrade-refunded")
        let last = try #require(play.purchases[0].access.periods.last)
        #expect(last.end == events[2].signedDate)
        #expect(last.product == .premium)
    }

    @Test func `Downgrade charged early begins when the better period ends`() throws {
        let (_, play) = try Self.play("downgrade-charged-early")
        let periods = play.purchases[0].access.periods
        #expect(periods.map(\.product) == [.premium, .basic, .basic])
        #expect(periods[0].end == play.purchases[0].transactions[0].expiresDate)
    }

    @Test func `Family member who leaves loses access, and the buyer does not`() throws {
        let (events, play) = try Self.play("family-member-leaves")
        #expect(play.purchases[1].access.periods.last?.end == events[4].signedDate)
        #expect(events[1].customer?.ownership == .familyShared)
        #expect(try #require(play.purchases[0].access.periods.last?.end) > events[4].signedDate)
    }

    @Test func `Apple asks for consumption information again under a new uuid`() throws {
        let (events, _) = try Self.play("refund-asked-three-times")
        let requests = events.filter { $0.kind.type == .consumptionRequest }
        #expect(requests.count == 3)
        #expect(Set(requests.map(\.uuid)).count == 3)
        #expect(Set(requests.map { $0.purchase?.transactionId }).count == 1)
    }

    @Test func `Refunds of added seats leave the access alone`() throws {
        let (events, play) = try Self.play("seats-added-and-refunded")
        let purchases = events.compactMap(\.purchase)
        #expect(purchases.map(\.quantity) == [5, 2, 2, 5, 4])
        #expect(purchases.map { $0.revocation != nil } == [false, false, true, false, false])
        #expect(purchases.map(\.revokedSeats) == [0, 0, 0, 1, 0])
        #expect(events.map(\.status) == [1, 1, 1, 1, 1])
        #expect(
            play.purchases[0].access.periods.map(\.transactionId) == [purchases[0], purchases[4]].map(\.transactionId))
        let added = PayloadBuilder.transaction(purchases[1], in: events[1])
        #expect(added.additionalTransactionReason == .seatAddition)
        #expect(added.expiresDate == purchases[0].expiresDate)
        let seat = PayloadBuilder.transaction(purchases[3], in: events[3])
        #expect(seat.multiSeatInfo?.text.contains(#""revokedSeatQuantity":1"#) == true)
        #expect(seat.additionalTransactionReason == .seatAddition)
    }

    @Test func `Cancelled commitment is paid to its last payment`() throws {
        let (events, play) = try Self.play("commitment-cancelled")
        let transactions = events.compactMap(\.purchase).map(\.commitment?.number)
        #expect(transactions == [1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12])
        let renewals = events.compactMap(\.renewal)
        #expect(renewals.map(\.commitmentWillRenew) == [true, true, true] + Array(repeating: false, count: 11))
        #expect(renewals.map(\.willRenew) == Array(repeating: true, count: 12) + [false, false])
        #expect(play.purchases[0].access.periods.count == 12)
        let cancelled = PayloadBuilder.renewal(renewals[3], of: try #require(events[3].purchase), in: events[3])
        #expect(cancelled.commitmentInfo?.text.contains(#""commitmentAutoRenewStatus":0"#) == true)
        let paid = PayloadBuilder.transaction(try #require(events[3].purchase), in: events[3])
        #expect(paid.commitmentInfo?.text.hasPrefix(#"{"billingPeriodNumber":3,"totalBillingPeriods":12,"#) == true)
    }

    @Test func `Price of Advanced Commerce changes without consent, and the next period costs it`() throws {
        let (events, _) = try Self.play("advanced-commerce")
        #expect(
            events.map(\.kind.type.rawValue)
                == ["SUBSCRIBED", "MIGRATION", "METADATA_UPDATE", "PRICE_CHANGE", "DID_RENEW"])
        let purchases = events.compactMap(\.purchase)
        let price = purchases[0].price
        #expect(purchases.map(\.price) == [price, price, price, price, price + 1_000])
        let changed = events[3]
        let renewal = PayloadBuilder.renewal(try #require(changed.renewal), of: purchases[3], in: changed)
        #expect(renewal.renewalPrice == price + 1_000 && renewal.priceIncreaseStatus == nil)
        let next = try AdvancedCommerceInfo(
            json: JSONDocument(try #require(renewal.advancedCommerceInfo?.bytes)).root)
        #expect(next.items?.first?.priceIncreaseInfo?.price == price + 1_000 && next.consistencyToken != nil)
        let transaction = PayloadBuilder.transaction(purchases[3], in: changed)
        let now = try AdvancedCommerceInfo(
            json: JSONDocument(try #require(transaction.advancedCommerceInfo?.bytes)).root)
        #expect(now.items?.first?.price == price && now.items?.first?.priceIncreaseInfo == nil)
        #expect((now.taxExclusivePrice ?? 0) + (now.estimatedTax ?? 0) == price && now.taxRate == "0.19")
    }

    @Test func `Commitment ends later where a payment succeeded late`() throws {
        let (events, _) = try Self.play("commitment-paid-late")
        let ends = events.compactMap(\.purchase?.commitment?.expiresDate)
        #expect(ends[0] == ends[1] && ends[2] > ends[1].addingTimeInterval(19 * 86_400))
        #expect(events.map(\.status) == [1, 3, 1, 1])
    }

    @Test func `Two accounts of the app on one Apple account have tokens of their own`() throws {
        let (events, _) = try Self.play("two-accounts-one-apple-account")
        #expect(Set(events.map { $0.customer?.appTransactionId }).count == 1)
        #expect(Set(events.map { $0.customer?.appAccountToken }).count == 2)
    }

    @Test(arguments: [
        ("[]", "must be a JSON object"), (#"{"nonsense": 1}"#, "no scenario"), (#"{"win-back": -1}"#, "0 or more"),
        (#"{"win-back": 0}"#, "no weight above 0"),
    ])
    func `Invalid mix is rejected with the reason`(json: String, reason: String) throws {
        let failure = try #require(throws: SimulatorError.self) { try ScenarioMix(json: Data(json.utf8)) }
        #expect(failure.description.contains(reason))
    }

    @Test func `Mix chooses scenarios by their weights, and no others`() throws {
        let mix = try ScenarioMix(json: Data(#"{"win-back": 3, "anything": 1}"#.utf8))
        var random = SeededRandom(seed: 3)
        let chosen = (0..<4_000).map { _ in mix.choose(using: &random)?.name }
        let share = Double(chosen.count { $0 == "win-back" }) / 4_000
        #expect(Set(chosen) == ["win-back", nil])
        #expect((0.7...0.8).contains(share))
    }

    @Test func `Population that plays one scenario sends its steps and nothing else`() throws {
        let scenario = try #require(Scenario.named("extended"))
        let app = App(bundleId: "com.example.app", appAppleId: 1, environment: .production)
        var population = Population(apps: [app], size: 1, mix: .only(scenario), seed: 1, now: Self.now)
        let events = (0..<6).map { _ in population.next(now: Self.now) }
        #expect(events.map(\.kind) == (scenario.steps + scenario.steps).map(\.event.kind))
        #expect(Set(events.map { $0.purchase?.originalTransactionId }).count == 2)
        #expect(events.allSatisfy { $0.signedDate <= Self.now })
    }

    private static func play(
        _ name: String, in environment: StoreEnvironment = .production
    ) throws -> ([EventPayload], ScenarioPlay) {
        var random = SeededRandom(seed: 5)
        var identities = Identities(seed: 5, now: now)
        let app = App(bundleId: "com.example.app", appAppleId: 1, environment: environment)
        var play = ScenarioPlay(
            try #require(Scenario.named(name)), in: app, timeScale: TimeScale(environment: environment),
            beginning: now, random: &random, identities: &identities)
        var events: [EventPayload] = []
        while let event = play.next(identities: &identities) { events.append(event) }
        return (events, play)
    }
}

extension Product {
    fileprivate static let basic = subscriptions[1]
    fileprivate static let premium = subscriptions[2]
}
