import Contracts
import Foundation
import Subscriptions
import Testing

/// Cases of access that were wrong once: the events, and the product that may be used on each day.
@Suite struct AccessScheduleTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var events: [PurchaseEvent]
        /// The day, and the product that may be used on it; nil for none.
        var access: [(day: Double, product: String?)]
        /// Whether a transaction is missing and recovery should fetch it.
        var isUnexplained = false
        var durations: [String: ProductDuration] = [:]
        var testDescription: String { name }
    }

    static func bought(
        _ id: String, _ product: String = "gold", _ from: Double, _ to: Double?, signed: Double? = nil,
        reason: String? = "PURCHASE", revoked: Double? = nil, isUpgraded: Bool = false
    ) -> TransactionFacts {
        var facts = Sample.period(
            id, from: from, to: to, product: product, signed: signed ?? from, revoked: revoked, isUpgraded: isUpgraded)
        facts.reason = reason
        return facts
    }

    static func renewal(
        _ product: String? = "gold", _ date: Double?, signed: Double, grace: Double? = nil, retry: Bool? = false,
        next: String? = nil
    ) -> RenewalFacts {
        var facts = Sample.renewal(retry: retry, grace: grace, signed: signed, product: product)
        facts.renewalDate = date.map(Sample.day)
        facts.autoRenewProductId = next ?? product
        return facts
    }

    static func event(
        _ name: String, _ day: Double, _ status: Int?, _ transaction: TransactionFacts?,
        _ renewal: RenewalFacts? = nil,
        number: UInt8 = 0, environment: StoreEnvironment = .production
    ) -> PurchaseEvent {
        Sample.event(
            name, signed: day, number: number, status: status, transaction: transaction, renewal: renewal,
            key: Sample.key("1", environment))
    }

    /// The charge of a renewal, with what Apple then says of the next one.
    static func renewed(
        _ day: Double, _ id: String, _ product: String, _ from: Double, _ to: Double
    ) -> PurchaseEvent {
        event(
            "DID_RENEW", day, 1, bought(id, product, from, to, signed: day, reason: "RENEWAL"),
            renewal(product, to, signed: day))
    }

    /// The refund of a transaction, while its subscription goes on by the status.
    static func refunded(
        _ day: Double, _ status: Int?, _ id: String, _ product: String, _ from: Double, _ to: Double,
        reason: String? = "PURCHASE", revoked: Double
    ) -> PurchaseEvent {
        event(
            "REFUND", day, status, bought(id, product, from, to, signed: day, reason: reason, revoked: revoked),
            renewal(product, to, signed: day))
    }

    /// Seats that are bought while the subscription runs, for the rest of its period.
    static func seatsAdded(_ day: Double, _ id: String, _ product: String, to end: Double) -> PurchaseEvent {
        event(
            "METADATA_UPDATE", day, 1, Sample.seats(bought(id, product, day, end)), renewal(product, end, signed: day))
    }

    static let start = event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 0))

    static let cases: [Case] = [
        Case(
            name: "L1 grace, status 4, not yet in billing retry",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 30, signed: 30, grace: 46, retry: false)),
            ], access: [(29, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "L1 grace, signed before the end with status 1",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.5, 1, bought("1", "gold", 0, 30, signed: 29.5),
                    renewal("gold", 30, signed: 29.5, grace: 46, retry: false)),
            ], access: [(29, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "S3, L2 refund of an old period, the newer transaction unknown",
            events: [
                start,
                event(
                    "REFUND", 40, 1, bought("1", "gold", 0, 30, signed: 40, revoked: 40),
                    renewal("platinum", 60, signed: 40)),
            ], access: [(29, "gold"), (35, nil), (40, "platinum"), (59.9, "platinum"), (60, nil)], isUnexplained: true),
        Case(
            name: "L2 the first notification ever is about an old period",
            events: [
                event(
                    "CONSUMPTION_REQUEST", 40, 1, bought("1", "gold", 0, 30, signed: 40),
                    renewal("gold", 60, signed: 40))
            ], access: [(10, "gold"), (40, "gold"), (59.9, "gold"), (60, nil)], isUnexplained: true),
        Case(
            name: "L2 Apple names another product than the known transaction: an upgrade is unknown",
            events: [
                start,
                event(
                    "REFUND_DECLINED", 20, 1, bought("0", "gold", -30, 0, signed: 20),
                    renewal("platinum", 45, signed: 20)),
            ], access: [(19, "gold"), (20, "platinum"), (44.9, "platinum"), (45, nil)], isUnexplained: true),
        Case(
            name: "A5, L3 early renewal, then an upgrade before it begins",
            events: [
                start,
                renewed(29.5, "2", "gold", 30, 60),
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 29.7, 1, bought("3", "platinum", 29.7, 59.7),
                    renewal("platinum", 59.7, signed: 29.7)),
            ],
            access: [
                (29.6, "gold"), (29.7, "platinum"), (30, "platinum"), (59.6, "platinum"), (59.8, nil),
            ]),
        Case(
            name: "A2, L4 a downgrade that was charged early begins at the paid end",
            events: [
                start,
                renewed(29.2, "2", "silver", 30, 60),
            ], access: [(29.2, "gold"), (29.99, "gold"), (30, "silver"), (59, "silver"), (60, nil)]),
        Case(
            name: "A6, L5 seats were added, and only they were refunded",
            events: [
                start,
                event(
                    "SEATS_ADDED", 10, 1,
                    {
                        var seats = bought("2", "gold", 10, 30)
                        seats.additionalTransactionReason = "SEAT_ADDITION"
                        return seats
                    }(), renewal("gold", 30, signed: 10)),
                event(
                    "REFUND", 15, 1,
                    {
                        var seats = bought("2", "gold", 10, 30, signed: 15, revoked: 15)
                        seats.additionalTransactionReason = "SEAT_ADDITION"
                        return seats
                    }(), renewal("gold", 30, signed: 15)),
            ], access: [(5, "gold"), (12, "gold"), (16, "gold"), (29.9, "gold"), (30, nil)]),
        Case(
            name: "A8, L8 a type of product that is unknown",
            events: [
                event(
                    "SUBSCRIBED/INITIAL_BUY", 0, 1,
                    {
                        var bundle = bought("1", "bundle", 0, 30)
                        bundle.productType = "Subscription Bundle"
                        return bundle
                    }(), renewal("bundle", 30, signed: 0))
            ], access: [(5, "bundle"), (30, nil)]),
        Case(
            name: "L9 sandbox: the failure is signed minutes before the end",
            events: [
                event(
                    "SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 0.02), renewal("gold", 0.02, signed: 0),
                    environment: .sandbox),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 0.017, 1, bought("1", "gold", 0, 0.02, signed: 0.017),
                    renewal("gold", 0.02, signed: 0.017, grace: 0.03, retry: false), environment: .sandbox),
            ], access: [(0.019, "gold"), (0.02, "gold"), (0.029, "gold"), (0.03, nil)]),
        Case(
            name: "A4, L10 an upgrade in the last day, refunded: the old product ended with the upgrade",
            events: [
                start,
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 29.5, 1, bought("2", "platinum", 29.5, 59.5),
                    renewal("platinum", 59.5, signed: 29.5)),
                refunded(29.6, 2, "2", "platinum", 29.5, 59.5, revoked: 29.6),
            ], access: [(29.4, "gold"), (29.55, "platinum"), (29.7, nil), (31, nil)]),
        Case(
            name: "A10, L11 a non-renewing subscription has the duration of its product",
            events: [event("ONE_TIME_CHARGE", 0, nil, Sample.purchase(.nonRenewing, "pass"))],
            access: [(0, "pass"), (6.9, "pass"), (7, nil), (1500, nil)], durations: ["pass": .days(7)]),
        Case(
            name: "a status without access ends its own transaction, and no other that was paid for",
            events: [
                start,
                renewed(29.5, "2", "gold", 30, 60),
                event(
                    "REVOKE", 29.8, 5, bought("1", "gold", 0, 30, signed: 29.8, revoked: 29.8),
                    renewal("gold", 60, signed: 29.8)),
            ], access: [(29.7, "gold"), (29.9, nil), (30, "gold")]),
        Case(
            name: "A1 a revocation signed after status 1 is not undone by it",
            events: [
                start,
                event("TRANSACTION", 5, nil, bought("1", "gold", 0, 30, signed: 5, revoked: 5)),
            ], access: [(4, "gold"), (5, nil), (29, nil)]),
        Case(
            name: "a refund that was reversed",
            events: [
                start,
                refunded(5, 2, "1", "gold", 0, 30, revoked: 5),
                event("REFUND_REVERSED", 8, 1, bought("1", "gold", 0, 30, signed: 8), renewal("gold", 30, signed: 8)),
            ], access: [(4, "gold"), (9, "gold"), (30, nil)]),
        Case(
            name: "an extension moves the end",
            events: [
                start,
                event(
                    "RENEWAL_EXTENDED", 10, 1, bought("1", "gold", 0, 40, signed: 10), renewal("gold", 40, signed: 10)),
            ], access: [(39, "gold"), (40, nil)]),
        Case(
            name: "A4 an upgrade cuts the old product short",
            events: [
                start,
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 10, 1, bought("2", "platinum", 10, 40),
                    renewal("platinum", 40, signed: 10)),
            ], access: [(9.9, "gold"), (10, "platinum"), (39.9, "platinum"), (40, nil)]),
        Case(
            name: "billing retry without grace",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW", 30, 3, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 30, signed: 30, retry: true)),
                event(
                    "DID_RENEW/BILLING_RECOVERY", 40, 1, bought("2", "gold", 40, 70, reason: "RENEWAL"),
                    renewal("gold", 70, signed: 40)),
            ], access: [(29, "gold"), (35, nil), (41, "gold"), (70, nil)]),
    ]

    @Test(arguments: cases + foundByScenarios + past + contradictions + ofRules)
    func `A purchase gives access when it should, in every order of arrival`(
        given: Case
    ) {
        for events in permutations(given.events) {
            let schedule = Self.schedule(events, durations: given.durations)
            for (day, product) in given.access {
                #expect(schedule.period(at: Sample.day(day))?.productId == product, "day \(day)")
            }
            #expect((schedule.unexplainedStatus != nil) == given.isUnexplained)
            for (period, next) in zip(schedule.periods, schedule.periods.dropFirst()) {
                #expect(period.endsAt.map { $0 <= next.startsAt } == true)
            }
        }
    }

    static func schedule(_ events: [PurchaseEvent], durations: [String: ProductDuration] = [:]) -> AccessSchedule {
        AccessSchedule(of: snapshot(events), durations: durations)
    }

    static func snapshot(_ events: [PurchaseEvent]) -> PurchaseSnapshot {
        var subscription: Subscription?
        var versions: [String: TransactionVersion] = [:]
        for event in events {
            subscription = Subscription.applying(event, known: subscription).subscription
            guard let facts = event.transaction else { continue }
            let version = TransactionVersion(facts, version: event.version)
            if versions[facts.transactionId].map({ $0.isOlder(than: version) }) ?? true {
                versions[facts.transactionId] = version
            }
        }
        guard let subscription else { preconditionFailure("a case without events") }
        return PurchaseSnapshot(subscription: subscription, transactions: Array(versions.values))
    }

    private func permutations<Element>(_ elements: [Element]) -> [[Element]] {
        guard let first = elements.first else { return [[]] }
        return permutations(Array(elements.dropFirst())).flatMap { rest in
            (0...rest.count).map { place in
                var order = rest
                order.insert(first, at: place)
                return order
            }
        }
    }

    @Test func `The duration of a non-renewing product that was never configured is said to be unknown`() {
        let pass = Sample.purchase("1", Sample.purchase(.nonRenewing, "pass"))
        #expect(AccessSchedule(of: pass).period(at: Sample.day(1500))?.reason == .durationUnknown)
        let ended = AccessSchedule(of: pass, durations: ["pass": .days(1)])
        #expect(ended.period(at: Sample.day(0.5))?.reason == .nonRenewing)
        #expect(ended.period(at: Sample.day(1500)) == nil)
    }

    @Test func `A12 a migration ends a purchase, and what is charged on it since counts`() {
        var purchase = Sample.purchase("1", Self.bought("1", "gold", 0, 30), Self.bought("2", "gold", 20, 50))
        purchase.migratedAt = Sample.day(10)
        let schedule = AccessSchedule(of: purchase)
        for (day, product) in [(9.0, "gold"), (11, nil), (19, nil), (21, "gold"), (49, "gold")] as [(Double, String?)] {
            #expect(schedule.period(at: Sample.day(day))?.productId == product, "day \(day)")
        }
    }
}
