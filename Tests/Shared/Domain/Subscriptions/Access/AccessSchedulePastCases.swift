import Contracts
import Subscriptions

extension AccessScheduleTests {
    private static func failed(_ status: Int? = 4, _ signed: Double = 30) -> PurchaseEvent {
        event(
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", signed, status, bought("1", "gold", 0, 30, signed: signed),
            renewal("gold", 30, signed: signed, grace: 46, retry: true))
    }

    private static let graceOver = event(
        "GRACE_PERIOD_EXPIRED", 46, 3, bought("1", "gold", 0, 30, signed: 46),
        renewal("gold", 30, signed: 46, retry: true))

    /// Grace periods that are over.
    static let past: [Case] = [
        Case(
            name: "G1 a grace period that is over was one", events: [start, failed(), graceOver],
            access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil), (50, nil)]),
        Case(
            name: "G2 the charge succeeded within the grace period, for a week from its beginning",
            events: [
                start, failed(),
                event(
                    "DID_RENEW/BILLING_RECOVERY", 35, 1, bought("2", "gold", 30, 37, signed: 35, reason: "RENEWAL"),
                    renewal("gold", 37, signed: 35)),
            ], access: [(31, "gold"), (34, "gold"), (36.9, "gold"), (37, nil), (40, nil)]),
        Case(
            name: "G2 a renewal that was refunded before it began takes no place of a grace period named since",
            events: [
                start,
                renewed(29.2, "2", "gold", 30, 60),
                event(
                    "REFUND", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL", revoked: 29.5),
                    renewal("gold", 30, signed: 29.5)),
                failed(),
            ], access: [(29.9, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "the charge succeeded after the grace period",
            events: [
                start, failed(), graceOver,
                event(
                    "DID_RENEW/BILLING_RECOVERY", 50, 1, bought("2", "gold", 50, 80, reason: "RENEWAL"),
                    renewal("gold", 80, signed: 50)),
            ], access: [(31, "gold"), (45.9, "gold"), (47, nil), (51, "gold"), (80, nil)]),
        Case(
            name: "two grace periods of one purchase, each told once",
            events: [
                start, failed(),
                event(
                    "DID_RENEW/BILLING_RECOVERY", 50, 1, bought("2", "gold", 50, 80, reason: "RENEWAL"),
                    renewal("gold", 80, signed: 50)),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 80, 4,
                    bought("2", "gold", 50, 80, signed: 80, reason: "RENEWAL"),
                    renewal("gold", 80, signed: 80, grace: 96)),
                event(
                    "EXPIRED/BILLING_RETRY", 140, 2, bought("2", "gold", 50, 80, signed: 140, reason: "RENEWAL"),
                    renewal("gold", 80, signed: 140)),
            ], access: [(31, "gold"), (46, nil), (51, "gold"), (81, "gold"), (95.9, "gold"), (96, nil)]),
        Case(
            name: "G3 a refund within the grace period ends it then",
            events: [
                start, failed(),
                refunded(33, 5, "1", "gold", 0, 30, revoked: 32),
            ], access: [(29, "gold"), (31, "gold"), (32, nil), (40, nil)]),
        Case(
            name: "a refund of the period after its grace period takes nothing of the past",
            events: [
                start, failed(), graceOver,
                refunded(50, 5, "1", "gold", 0, 30, revoked: 50),
            ], access: [(29, "gold"), (31, "gold"), (45, "gold"), (46, nil)]),
        Case(
            name: "G4 Apple closed a grace period early, and the customer subscribed again later",
            events: [
                start, failed(),
                event(
                    "EXPIRED/BILLING_RETRY", 35, 2, bought("1", "gold", 0, 30, signed: 35),
                    renewal("gold", 30, signed: 35)),
                event("SUBSCRIBED/RESUBSCRIBE", 60, 1, bought("2", "gold", 60, 90), renewal("gold", 90, signed: 60)),
            ], access: [(34, "gold"), (35, nil), (45, nil), (61, "gold")]),
        Case(
            name: "G4 a status 2 without a renewal info closed a grace period, and a purchase followed",
            events: [
                start, failed(), event("EXPIRED", 35, 2, bought("1", "gold", 0, 30, signed: 35)),
                event("SUBSCRIBED/RESUBSCRIBE", 60, 1, bought("2", "gold", 60, 90), renewal("gold", 90, signed: 60)),
            ], access: [(34, "gold"), (35, nil), (45, nil), (61, "gold")]),
        Case(
            name: "a grace period told after the failure, and closed before its end",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW", 30, 3, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 30, signed: 30, retry: true)),
                event("RENEWAL_INFO", 31, nil, nil, renewal("gold", 30, signed: 31, grace: 46)),
                event(
                    "EXPIRED", 36, 2, bought("1", "gold", 0, 30, signed: 36), renewal("gold", 30, signed: 36)),
                event("SUBSCRIBED/RESUBSCRIBE", 60, 1, bought("2", "gold", 60, 90), renewal("gold", 90, signed: 60)),
            ], access: [(30.5, "gold"), (35, "gold"), (36, nil), (45, nil), (61, "gold")]),
        Case(
            name: "G4 a newer renewal info without the grace period closes it, although a period ahead is unknown",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30)), failed(nil),
                event("RENEWAL_INFO", 35, nil, nil, renewal("gold", 60, signed: 35)),
            ],
            access: [(34, "gold"), (36, nil), (45, nil)]),
        Case(
            name: "another product is bought within the grace period",
            events: [
                start, failed(),
                event(
                    "SUBSCRIBED/RESUBSCRIBE", 35, 1, bought("2", "silver", 35, 42), renewal("silver", 42, signed: 35)),
            ], access: [(34, "gold"), (35, "silver"), (41, "silver"), (42, nil), (45, nil)]),
        Case(
            name: "a grace period told before the end by status 1, then over",
            events: [start, failed(1, 29.5), graceOver],
            access: [(29.9, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "a grace period of older payloads that is over",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30, reason: nil)),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, nil, bought("1", "gold", 0, 30, signed: 30, reason: nil),
                    renewal(nil, nil, signed: 30, grace: 46)),
                event(
                    "DID_RENEW/BILLING_RECOVERY", 35, nil, bought("2", "gold", 30, 37, signed: 35, reason: nil),
                    renewal(nil, nil, signed: 35)),
            ], access: [(29, "gold"), (31, "gold"), (36, "gold"), (37, nil), (40, nil)]),
        Case(
            name: "the renewal after a grace period is unknown, and so is that of the period before",
            events: [
                start,
                event("DID_FAIL_TO_RENEW/GRACE_PERIOD", 60, 4, nil, renewal("gold", 60, signed: 60, grace: 76)),
                event("GRACE_PERIOD_EXPIRED", 76, 3, nil, renewal("gold", 60, signed: 76, retry: true)),
            ], access: [(29, "gold"), (40, nil), (61, "gold"), (75.9, "gold"), (76, nil)]),
    ]

    /// Payloads that contradict themselves: who paid keeps access, and recovery asks Apple.
    static let contradictions: [Case] = [
        Case(
            name: "S2 status 2 before the end of a paid period",
            events: [
                start,
                event(
                    "EXPIRED/VOLUNTARY", 5, 2, bought("1", "gold", 0, 30, signed: 5), renewal("gold", 30, signed: 5)),
            ], access: [(4, "gold"), (6, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "status 2 before the end, without a transaction",
            events: [start, event("EXPIRED/VOLUNTARY", 5, 2, nil)],
            access: [(6, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "S2 status 3 with a grace period ahead", events: [start, failed(3)],
            access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)], isUnexplained: true),
        Case(
            name: "status 3 before the end with a grace period ahead", events: [start, failed(3, 29.5)],
            access: [(29.9, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)], isUnexplained: true),
        Case(
            name: "status 3 with a grace period ahead, which is over", events: [start, failed(3), graceOver],
            access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "S6 the refunded renewal ends at the renewal date: the running period goes on, and nothing follows",
            events: [
                start,
                renewed(29.2, "2", "gold", 30, 60),
                refunded(29.5, 1, "2", "gold", 30, 60, reason: "RENEWAL", revoked: 29.5),
            ], access: [(29.4, "gold"), (29.9, "gold"), (30, nil), (59, nil)]),
        Case(
            name: "a refund of the running period with status 1 and its end as the renewal date",
            events: [
                start,
                refunded(10, 1, "1", "gold", 0, 30, revoked: 10),
            ], access: [(9, "gold"), (11, nil), (29, nil)]),
        Case(
            name: "S8 status 1 about an older period since a refund of the running one asks whether that was reversed",
            events: [
                start,
                event(
                    "DID_RENEW", 30, 1, bought("2", "gold", 30, 60, reason: "RENEWAL"),
                    renewal("gold", 60, signed: 30)),
                refunded(40, 5, "2", "gold", 30, 60, reason: "RENEWAL", revoked: 40),
                event(
                    "REFUND_DECLINED", 50, 1, bought("1", "gold", 0, 30, signed: 50), renewal("gold", 60, signed: 50)),
            ], access: [(29, "gold"), (39, "gold"), (41, nil), (51, nil)], isUnexplained: true),
        Case(
            name: "S8 Apple's answer that the running period is still revoked is asked about no more",
            events: [
                start,
                refunded(10, 5, "1", "gold", 0, 30, revoked: 10),
                event(
                    "REFUND_DECLINED", 20, 1, bought("0", "gold", -30, 0, signed: 20), renewal("gold", 30, signed: 20)),
                event("TRANSACTION", 21, nil, bought("1", "gold", 0, 30, signed: 21, revoked: 10)),
            ], access: [(9, "gold"), (11, nil), (22, nil)]),
        Case(
            name: "S6 the downgrade is refunded before it begins: the higher plan runs to its end",
            events: [
                start,
                renewed(29.2, "2", "silver", 30, 60),
                refunded(29.5, 1, "2", "silver", 30, 60, reason: "RENEWAL", revoked: 29.5),
            ], access: [(29.4, "gold"), (29.9, "gold"), (30, nil), (40, nil)]),
        Case(
            name: "A3 a downgrade that is dated at its charge begins on the renewal date",
            events: [
                start,
                event(
                    "DID_RENEW", 29.2, 1, bought("2", "silver", 29.2, 60, reason: "RENEWAL"),
                    renewal("silver", 60, signed: 29.2)),
            ], access: [(29.1, "gold"), (29.3, "gold"), (29.99, "gold"), (30, "silver"), (59, "silver"), (60, nil)]),
        Case(
            name: "S7 status 1 about an old transaction without a renewal date asks Apple",
            events: [event("CONSUMPTION_REQUEST", 40, 1, bought("1", "gold", 0, 30, signed: 40))],
            access: [(29, "gold"), (41, nil)], isUnexplained: true),
        Case(
            name: "S7 status 1 about an old transaction, and a renewal date that is over, asks Apple",
            events: [
                start,
                event(
                    "CONSUMPTION_REQUEST", 40, 1, bought("1", "gold", 0, 30, signed: 40),
                    renewal("gold", 30, signed: 40)),
            ], access: [(29, "gold"), (41, nil)], isUnexplained: true),
        Case(
            name: "a status that this build does not know decides nothing: the one before grants the time",
            events: [
                event(
                    "CONSUMPTION_REQUEST", 40, 1, bought("1", "gold", 0, 30, signed: 40),
                    renewal("gold", 60, signed: 40)),
                event("SOMETHING_NEW", 45, 6, nil, renewal("gold", 60, signed: 45)),
            ], access: [(35, nil), (44, "gold"), (46, "gold"), (59.9, "gold"), (60, nil)], isUnexplained: true),
        Case(
            name: "A9 a renewal signed before it begins: the period that it renews runs, though it is unknown",
            events: [event("DID_RENEW", 29.5, nil, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL"))],
            access: [(29.4, nil), (29.6, "gold"), (59, "gold"), (60, nil)]),
        Case(
            name: "S4 a purchase since the status ends what it claims",
            events: [
                event(
                    "CONSUMPTION_REQUEST", 10, 1, bought("0", "gold", -30, 0, signed: 10),
                    renewal("gold", 40, signed: 10)),
                event("TRANSACTION", 20, nil, bought("2", "silver", 20, 27)),
            ], access: [(15, "gold"), (21, "silver"), (28, nil), (39, nil)], isUnexplained: true),
        Case(
            name: "status 1 without a renewal date within a known period asks nothing",
            events: [event("PRICE_INCREASE/ACCEPTED", 10, 1, bought("1", "gold", 0, 30, signed: 10))],
            access: [(29, "gold"), (30, nil)]),
    ]
}
