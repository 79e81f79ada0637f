import Contracts
import Foundation
import Postgres
import Subscriptions
import Testing

@testable import Storage
@testable import TestSupport

/// Who may have an offer, over generated lives: the decision from the notifications, against the charges on Apple's side.
///
/// `OFFER_LIVES=5000 swift test --filter OfferLivesTests` generates more of them.
@Suite struct OfferLivesTests {
    private static let bundleId = "com.example.metals"
    private static let count = UInt64(ProcessInfo.processInfo.environment["OFFER_LIVES"] ?? "") ?? 200
    private static let day: Int64 = 86_400_000
    private static let rules = """
        {"rules": [
            {"productId": "gold", "offerIdentifier": "neverPaid", "who": ["neverPaid"],
             "atMost": {"count": 1, "days": 1}},
            {"productId": "gold", "offerIdentifier": "active", "who": ["active"], "atMost": {"count": 1, "days": 1}},
            {"productId": "gold", "offerIdentifier": "autoRenewOff", "who": ["autoRenewOff"],
             "atMost": {"count": 1, "days": 1}},
            {"productId": "gold", "offerIdentifier": "lapsed", "who": ["lapsed"], "lapsedDays": 7,
             "atMost": {"count": 1, "days": 1}},
            {"productId": "gold", "offerIdentifier": "notRefunded",
             "who": ["neverPaid", "active", "autoRenewOff", "lapsed"], "noRefundDays": 30,
             "atMost": {"count": 1, "days": 1}}
        ]}
        """

    /// Lives whose ends were all told, in an order that is known: others leave open what the customer is.
    private static func lives() -> [SimulatedPurchase] {
        (0..<count).map { seed in
            let steps = ScenarioStep.scenario(seed: 90_000 + seed)
            return SimulatedPurchase(steps.filter { $0.action != .addSeats && $0.action != .resend })
        }.filter { life in
            !life.events.isEmpty && !life.hasChangedSilently && !life.hasCoincidences && !life.hasContradictions
                && life.oldPayloads == 0
        }
    }

    @Test func `A rule allows an offer to the customers that it names, whatever their purchases went through`()
        async throws
    {
        try await LedgerStoreTests.use { connection, _ async throws in
            let audit = OperatorAction(
                actedAt: Fixtures.now, actor: "ann", operation: "offers rules set", subject: "a", reason: nil)
            for environment in [StoreEnvironment.production, .sandbox] {
                _ = try await OfferRuleStore(connection).add(
                    Self.rules, to: Self.bundleId, in: environment, by: "ann", at: Fixtures.now, audit: audit)
            }
            var fixtures = Fixtures(seed: 1400)
            let lives = Self.lives()
            let entries = lives.enumerated().map { number, life in
                life.events.map { LedgerCostTests.entry($0, ofPurchase: number, &fixtures) }
            }
            for place in 0..<(entries.map(\.count).max() ?? 0) {
                _ = try await LedgerStore(connection).apply(
                    entries.compactMap { $0.count > place ? $0[place] : nil }, moving: [], recordedAt: Fixtures.now)
            }
            var decided: [String: Int] = [:]
            for (number, life) in lives.enumerated() {
                let account = try #require(UUID(uuidString: LedgerCostTests.account(ofPurchase: number)))
                for moment in Self.moments(life) {
                    let app = CoverageStore.App(life.environment, Self.bundleId)
                    let (offers, _) = try await OfferDecisionStore(connection).offers(
                        of: account, in: app, at: Date(milliseconds: moment))
                    for offer in offers {
                        let name = offer.rule.offerIdentifier
                        let expected = Self.expected(name, life, at: moment)
                        let isAllowed =
                            name == "notRefunded" ? offer.refusal?.reason != "refunded" : offer.refusal == nil
                        #expect(
                            isAllowed == expected,
                            """
                            life \(number), \(name) at \(moment), \(offer.refusal?.description ?? "allowed"):
                            \(life.state) renews: \(life.willRenew), \(life.charges), \(life.graces)
                            """)
                        decided["\(name) \(expected)", default: 0] += 1
                    }
                }
            }
            #expect(decided.count == 10, "each is allowed to some and refused to others: \(decided)")
        }
    }

    /// From the last event on, also around the end of what a rule waits for.
    private static func moments(_ life: SimulatedPurchase) -> [Int64] {
        let around = ends(life).map(\.to).max().map { end in
            [end - 1000, end + 1000, end + 7 * day - 1000, end + 7 * day + 1000]
        }
        let moments = [life.now, life.now + day, life.now + 40 * day] + (around ?? [])
        // A charge is retried for 60 days. After a refund of the newest transaction nothing says whether a renewal is due.
        let isKnown = life.charges.last?.refundedAt == nil
        // What was bought for ever has an end beyond all calendars.
        return moments.filter { moment in
            (life.now..<life.now + 1000 * day).contains(moment)
                && (isOver(life) || (isKnown && moment < life.end + 59 * day))
        }
    }

    private static func isOver(_ life: SimulatedPurchase) -> Bool {
        switch life.state {
        case .ended, .revoked, .oneTime: true
        case .active: !life.willRenew
        case .none, .grace, .retry: false
        }
    }

    /// The times with access.
    private static func ends(_ life: SimulatedPurchase) -> [(from: Int64, to: Int64)] {
        let paid = life.charges.map { ($0.from, min($0.entitlesUntil, $0.refundedAt ?? .max)) }
        return (paid + life.graces.map { ($0.from, $0.to) }).filter { $0.0 < $0.1 }.map { (from: $0.0, to: $0.1) }
    }

    /// Whether the customer may have the offer; of the last one whether no refund excludes it.
    private static func expected(_ offer: String, _ life: SimulatedPurchase, at moment: Int64) -> Bool {
        // What a family shares is another customer's.
        let hasPaid = !life.isFamilyShared
        let isSubscriber = hasPaid && life.productType == "Auto-Renewable Subscription"
        let hasAccess = life.product(at: moment) != nil
        switch offer {
        case "neverPaid": return !hasPaid
        case "active": return isSubscriber && hasAccess
        case "autoRenewOff": return isSubscriber && hasAccess && !life.willRenew
        case "lapsed":
            let end = ends(life).map(\.to).filter { $0 <= moment }.max()
            return isSubscriber && !hasAccess && isOver(life) && end.map { moment - $0 >= 7 * day } ?? true
        default:
            let refunds = life.charges.compactMap(\.refundedAt) + refundsOfSeats(life)
            return !hasPaid || !refunds.contains { moment - $0 < 30 * day }
        }
    }

    /// When Apple refunded some seats of a transaction, unless it refunded all or took it back since.
    private static func refundsOfSeats(_ life: SimulatedPurchase) -> [Int64] {
        var newest: [String: PurchaseEvent] = [:]
        for event in life.events where ["REFUND", "REFUND_REVERSED"].contains(event.notificationType) {
            if let id = event.transaction?.transactionId { newest[id] = event }
        }
        return newest.values.filter { $0.eventType == .seatsRefunded }.map(\.version.signedDate.milliseconds)
    }
}
