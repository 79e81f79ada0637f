import Subscriptions
import Testing

/// Cases that fail without a part of a rule that no other case shows: `Tests/Rules/run` turns each part off.
extension AccessScheduleTests {
    private static func failed(_ status: Int?, _ signed: Double = 30) -> PurchaseEvent {
        event(
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", signed, status, bought("1", "gold", 0, 30, signed: signed),
            renewal("gold", 30, signed: signed, grace: 46, retry: true))
    }

    private static let renewedEarly = event(
        "DID_RENEW", 29.2, 1, bought("2", "gold", 30, 60, signed: 29.2, reason: "RENEWAL"),
        renewal("gold", 60, signed: 29.2))

    static let ofRules: [Case] = [
        Case(
            name: "A1 a refund ends a one-time purchase",
            events: [
                event("ONE_TIME_CHARGE", 0, nil, Sample.purchase(.nonConsumable, "life")),
                event(
                    "REFUND", 5, nil,
                    {
                        var refunded = Sample.purchase(.nonConsumable, "life", revoked: 5)
                        refunded.signedDate = Sample.day(5)
                        return refunded
                    }()),
            ], access: [(4, "life"), (5, nil)]),
        Case(
            name: "S6 a refund since the status, of the period before the renewal date's, gives nothing by status",
            events: [
                start, renewedEarly,
                event("TRANSACTION", 29.5, nil, bought("1", "gold", 0, 30, signed: 29.5, revoked: 29.4)),
            ], access: [(29.3, "gold"), (29.6, nil), (30, "gold"), (59, "gold"), (60, nil)]),
        Case(
            name: "S6 of a refund and a status 1 of one moment the refund counts",
            events: [
                start, renewedEarly,
                event("TRANSACTION", 29.2, nil, bought("1", "gold", 0, 30, signed: 29.2, revoked: 29.2), number: 1),
            ], access: [(29.1, "gold"), (29.3, nil), (30, "gold"), (59, "gold"), (60, nil)]),
        Case(
            name: "G1 a grace period told early by status 1 begins where the time that the status gives ends",
            events: [
                event("DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.5, 1, nil, renewal("gold", 30, signed: 29.5, grace: 46))
            ], access: [(29.6, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)], isUnexplained: true),
        Case(
            name: "G1 a grace period that Apple named again since it closed it runs on",
            events: [
                start, failed(4), event("RENEWAL_INFO", 33, nil, nil, renewal("gold", 30, signed: 33)),
                event("RENEWAL_INFO", 35, nil, nil, renewal("gold", 30, signed: 35, grace: 46)),
            ], access: [(31, "gold"), (34, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "G2 a purchase takes the place of a grace period whose beginning Apple did not name",
            events: [
                start, event("RENEWAL_INFO", 30, nil, nil, renewal("gold", nil, signed: 30, grace: 46)),
                event("TRANSACTION", 35, nil, bought("2", "silver", 35, 42)),
            ], access: [(31, "gold"), (34, "gold"), (36, "silver"), (42, nil), (45, nil)]),
        Case(
            name: "G2 a renewal for a week, which only the app told, takes the place of the whole grace period",
            events: [
                start, failed(4),
                event("TRANSACTION", 35, nil, bought("2", "gold", 30, 37, signed: 35, reason: "RENEWAL")),
            ], access: [(31, "gold"), (36.9, "gold"), (37, nil), (45, nil)]),
        Case(
            name: "G2 a renewal that was refunded after Apple named the grace period takes its place",
            events: [
                start, failed(1, 29),
                event(
                    "TRANSACTION", 29.6, nil,
                    bought("2", "gold", 30, 60, signed: 29.6, reason: "RENEWAL", revoked: 29.6)),
            ], access: [(29.9, "gold"), (30.1, nil), (45, nil)]),
        Case(
            name: "G3 a refund of an earlier period leaves the grace period of an unknown one",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30)),
                event("TRANSACTION", 20, nil, bought("1", "gold", 0, 30, signed: 20, revoked: 20)),
                event("DID_FAIL_TO_RENEW/GRACE_PERIOD", 60, nil, nil, renewal("gold", 60, signed: 60, grace: 76)),
            ], access: [(19, "gold"), (21, nil), (59, nil), (61, "gold"), (75.9, "gold"), (76, nil)]),
        Case(
            name: "G4 a status 2 that comes without a transaction closes a grace period",
            events: [start, failed(4), event("EXPIRED", 35, 2, nil)],
            access: [(31, "gold"), (34.9, "gold"), (35, nil), (45, nil)]),
        Case(
            name: "G4 a renewal info without it closed a grace period, and a purchase followed",
            events: [
                start, failed(4), event("RENEWAL_INFO", 35, nil, nil, renewal("gold", 30, signed: 35)),
                event("SUBSCRIBED/RESUBSCRIBE", 60, 1, bought("2", "gold", 60, 90), renewal("gold", 90, signed: 60)),
            ], access: [(34, "gold"), (35, nil), (45, nil), (61, "gold")]),
        Case(
            name: "G4 a renewal info without it that Apple signed before the end of the period closes nothing",
            events: [
                start, failed(1, 29.5), event("RENEWAL_INFO", 29.8, nil, nil, renewal("gold", 30, signed: 29.8)),
                event(
                    "GRACE_PERIOD_EXPIRED", 46, 3, bought("1", "gold", 0, 30, signed: 46),
                    renewal("gold", 30, signed: 46, retry: true)),
            ], access: [(29.9, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
    ]

    // MARK: Migration

    private func access(_ events: [PurchaseEvent], migrated day: Double) -> AccessSchedule {
        var purchase = Self.snapshot(events)
        purchase.migratedAt = Sample.day(day)
        return AccessSchedule(of: purchase)
    }

    @Test func `A12 a status since a migration gives its time`() {
        let asked = Self.event(
            "CONSUMPTION_REQUEST", 12, 1, Self.bought("0", "gold", -30, 0, signed: 12),
            Self.renewal("gold", 60, signed: 12))
        let schedule = access([Self.start, asked], migrated: 10)
        for (day, product) in [(9, "gold"), (11, nil), (31, "gold"), (59, "gold"), (60, nil)] as [(Double, String?)] {
            #expect(schedule.period(at: Sample.day(day))?.productId == product, "day \(day)")
        }
    }

    @Test(arguments: [(30.5, nil as String?), (31.5, "gold")])
    func `A12 a renewal that may have been charged before a migration ends with it`(begins: Double, product: String?) {
        let renewed = Self.event(
            "DID_RENEW", begins, nil, Self.bought("2", "gold", begins, 60, reason: "RENEWAL"))
        let schedule = access([Self.start, renewed], migrated: 30)
        #expect(schedule.period(at: Sample.day(40))?.productId == product)
    }

    @Test func `O1 a migration ends what grace periods give, and explains the status before it`() {
        let graced = access([Self.start, Self.failed(4)], migrated: 35)
        #expect(graced.period(at: Sample.day(34))?.reason == .gracePeriod)
        #expect(graced.period(at: Sample.day(36)) == nil)
        let running = access([Self.start], migrated: 10)
        #expect(running.period(at: Sample.day(11)) == nil && running.unexplainedStatus == nil)
    }
}
