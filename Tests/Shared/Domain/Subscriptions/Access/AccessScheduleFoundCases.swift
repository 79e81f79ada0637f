import Contracts
import Subscriptions

extension AccessScheduleTests {
    /// Scenarios that failed once, shortened by hand.
    static let foundByScenarios: [Case] = [
        Case(
            name: "S5 the running period goes on to a purchase that takes the place of its early charged renewal",
            events: [
                start,
                renewed(29.2, "2", "silver", 30, 37),
                event("CONSUMPTION_REQUEST", 29.7, nil, bought("3", "platinum", 29.6, 36.6, signed: 29.7)),
            ], access: [(29.1, "gold"), (29.4, "gold"), (29.7, "platinum"), (36.5, "platinum"), (36.7, nil)]),
        Case(
            name: "G2 seats that are bought in the last second of a period do not take the place of its grace period",
            events: [
                start,
                seatsAdded(29.999_995, "2", "gold", to: 30),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4,
                    Sample.seats(bought("2", "gold", 29.999_995, 30, signed: 30)),
                    renewal("gold", 30, signed: 30, grace: 46, retry: true)),
            ], access: [(29, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "A6 seats that are bought after the early charge of a renewal do not end the renewal",
            events: [
                start,
                seatsAdded(29.1, "2", "gold", to: 30),
                renewed(29.5, "3", "gold", 29.5, 60),
                refunded(40, 5, "3", "gold", 29.5, 60, reason: "RENEWAL", revoked: 40),
            ], access: [(29.2, "gold"), (29.9, "gold"), (30, "gold"), (39.9, "gold"), (40, nil)]),
        Case(
            name: "S6 a refund of seats that Apple signed again says no more than the status 1 after it",
            events: [
                start,
                event(
                    "REFUND", 20, 1, Sample.seats(bought("1", "gold", 0, 30, signed: 20, revoked: 19.9)),
                    renewal("gold", 30, signed: 20)),
                event(
                    "CONSUMPTION_REQUEST", 21, nil, Sample.seats(bought("1", "gold", 0, 30, signed: 21, revoked: 19.9))),
            ], access: [(19, "gold"), (20.5, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "G1 the grace period of an unknown upgrade, after the refund of what it replaced",
            events: [
                event(
                    "DID_RENEW", 0, 1, bought("1", "gold", 0, 365, reason: "RENEWAL"), renewal("gold", 365, signed: 0)),
                event(
                    "REFUND", 53, 1,
                    bought("1", "gold", 0, 365, signed: 53, reason: "RENEWAL", revoked: 53, isUpgraded: true),
                    renewal("platinum", 60, signed: 53)),
                event(
                    "PRICE_CHANGE", 60.001, nil, nil, renewal("platinum", 60, signed: 60.001, grace: 76, retry: true)),
            ], access: [(52, "gold"), (59.9, "platinum"), (60.1, "platinum"), (75.9, "platinum"), (76, nil)],
            isUnexplained: true),
        Case(
            name: "G1 a grace period named before the end of an unknown period, after the refund of an older one",
            events: [
                refunded(10, 5, "1", "silver", 0, 365, revoked: 10),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 49.9, nil, nil,
                    renewal("gold", 50, signed: 49.9, grace: 66, retry: true)),
            ], access: [(9, "silver"), (11, nil), (49.8, nil), (49.95, "gold"), (65.9, "gold"), (66, nil)]),
        Case(
            name: "A9 the unknown period before an early charged renewal does not run where Apple's status is 2",
            events: [
                event(
                    "PRICE_CHANGE", 29.5, 2, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL"),
                    renewal("gold", 60, signed: 29.5))
            ], access: [(29.6, nil), (30, "gold"), (59, "gold"), (60, nil)]),
        Case(
            name: "A6 seats of the last day, and seats before them, of a period whose extension is unknown",
            events: [
                start,
                event(
                    "METADATA_UPDATE", 29.7, 1, Sample.seats(bought("2", "gold", 29.7, 31.5)),
                    renewal("gold", 31.5, signed: 29.7)),
                event(
                    "METADATA_UPDATE", 30.6, 1, Sample.seats(bought("3", "gold", 30.6, 31.5)),
                    renewal("gold", 31.5, signed: 30.6)),
                event(
                    "METADATA_UPDATE", 30.65, 1, Sample.seats(bought("4", "gold", 30.65, 31.5)),
                    renewal("gold", 31.5, signed: 30.65)),
            ], access: [(29.5, "gold"), (30.1, "gold"), (30.5, "gold"), (30.7, "gold"), (31.4, "gold"), (31.5, nil)]),
        Case(
            name: "S5 an older transaction that was sent again does not explain the status beside a newer renewal info",
            events: [
                start,
                event("RENEWAL_INFO", 10, nil, nil, renewal("silver", 40, signed: 10)),
                event(
                    "METADATA_UPDATE", 10.1, 1, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 0)),
            ], access: [(9, "gold"), (10.2, "silver"), (39.9, "silver"), (40, nil)], isUnexplained: true),
        Case(
            name: "S5 Apple's answer about the running period explains its status beside another product",
            events: [
                start,
                event("TRANSACTION", 10.1, 1, bought("1", "gold", 0, 30, signed: 10)),
                event("RENEWAL_INFO", 10.000_01, nil, nil, renewal("silver", 30, signed: 10.000_01)),
            ], access: [(9, "gold"), (10.2, "gold"), (29, "gold"), (30, nil)]),
        Case(
            name:
                "S7 a running period of another product than Apple names does not explain a status without a date ahead",
            events: [
                start,
                event(
                    "CONSUMPTION_REQUEST", 10, 1, bought("0", "gold", -30, 0, signed: 10),
                    renewal("silver", 9, signed: 10)),
            ], access: [(9, "gold"), (29, "gold")], isUnexplained: true),
        Case(
            name: "S8 the refund of a renewal that has not begun may have been reversed",
            events: [
                start,
                renewed(29.2, "2", "gold", 30, 60),
                refunded(29.5, 1, "2", "gold", 30, 60, reason: "RENEWAL", revoked: 29.5),
                event(
                    "CONSUMPTION_REQUEST", 29.8, 1, bought("1", "gold", 0, 30, signed: 29.8),
                    renewal("gold", 60, signed: 29.8)),
            ], access: [(29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "S9 status 4 beside a running period that is not the one of the grace period",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", -30, 1, bought("1", "gold", -30, 0), renewal("gold", 0, signed: -30)),
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 0, 1, bought("2", "silver", 0, 365),
                    renewal("silver", 365, signed: 0)),
                event(
                    "CONSUMPTION_REQUEST", 131, 4, bought("1", "gold", -30, 0, signed: 131),
                    renewal("platinum", 130, signed: 131, grace: 146, retry: true)),
            ], access: [(132, "silver"), (147, "silver")], isUnexplained: true),
        Case(
            name: "S9 status 4 before the end of the period whose charge failed asks nothing",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.5, 4, bought("1", "gold", 0, 30, signed: 29.5),
                    renewal("gold", 30, signed: 29.5, grace: 46, retry: true)),
            ], access: [(29, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "G4 a renewal info without it of the same moment closes no grace period",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 30, signed: 30, grace: 46, retry: true), number: 1),
                event("DID_CHANGE_RENEWAL_PREF", 30, nil, nil, renewal("gold", 30, signed: 30), number: 2),
            ], access: [(29, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "S5 an unknown upgrade took the place of a renewal that was charged early",
            events: [
                start,
                renewed(29.5, "2", "gold", 30, 60),
                event(
                    "REFUND", 29.7, 1, bought("1", "gold", 0, 30, signed: 29.7, revoked: 29.7, isUpgraded: true),
                    renewal("platinum", 59.6, signed: 29.7)),
            ], access: [(29.6, "gold"), (29.8, "platinum"), (30.1, "platinum"), (59.5, "platinum"), (59.7, nil)],
            isUnexplained: true),
        Case(
            name: "S5 a renewal info of a later product says nothing about a status before it",
            events: [
                renewed(29.5, "2", "gold", 30, 60),
                event("RENEWAL_INFO", 60.5, nil, nil, renewal("silver", 90, signed: 60.5)),
            ], access: [(29.6, "gold"), (59.9, "gold"), (60.6, "silver"), (90, nil)], isUnexplained: true),
        Case(
            name: "G4 the newest renewal info without it closes a grace period also before the end of the period",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.2, 1, bought("1", "gold", 0, 30, signed: 29.2),
                    renewal("gold", 30, signed: 29.2, grace: 46, retry: true)),
                event("RENEWAL_INFO", 29.6, nil, nil, renewal("gold", 30, signed: 29.6)),
            ], access: [(29.9, "gold"), (30, nil)]),
        Case(
            name: "A4 an old payload of an upgrade to the product whose renewal was charged early and replaced",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30, reason: nil)),
                event("DID_RENEW", 29.1, nil, bought("2", "silver", 30, 37, signed: 29.1, reason: nil)),
                event("DID_CHANGE_RENEWAL_PREF/UPGRADE", 29.2, nil, bought("3", "silver", 29.2, 36.2, reason: nil)),
                event(
                    "TRANSACTION", 29.3, nil,
                    bought("2", "silver", 30, 37, signed: 29.3, reason: "RENEWAL", isUpgraded: true)),
            ], access: [(29.15, "gold"), (29.25, "silver"), (36.1, "silver"), (36.3, nil)]),
        Case(
            name: "A9 a renewal signed before it begins, of a period whose extension is unknown",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30)),
                event("DID_RENEW", 30.5, nil, bought("2", "gold", 30.9, 60, signed: 30.5, reason: "RENEWAL")),
            ], access: [(29.9, "gold"), (30.1, nil), (30.6, "gold"), (59, "gold"), (60, nil)]),
        Case(
            name: "S3 a transaction that was refunded after its end takes nothing out of the time of the status",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 0)),
                event("TRANSACTION", 40, nil, bought("1", "gold", 0, 30, signed: 40, revoked: 35)),
                event("RENEWAL_INFO", 50, nil, nil, renewal("silver", 60, signed: 50)),
            ], access: [(10, "gold"), (31, "silver"), (59, "silver"), (60, nil)], isUnexplained: true),
        Case(
            name: "S4 of a purchase and another event of one moment the purchase counts",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 0)),
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 5, 1, bought("2", "platinum", 5, 12),
                    renewal("platinum", 12, signed: 5), number: 1),
                event(
                    "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", 5, 1, bought("1", "gold", 0, 30, signed: 5),
                    renewal("gold", 30, signed: 5), number: 2),
            ], access: [(4, "gold"), (6, "platinum"), (11, "platinum"), (12, nil)]),
        Case(
            name: "G1 the grace period of an unknown upgrade that ends before what it replaced",
            events: [
                start,
                event(
                    "RENEWAL_INFO", 16.9, nil, nil, renewal("platinum", 17, signed: 16.9, grace: 33, retry: true)),
            ], access: [(29, "gold"), (31, "platinum"), (32.9, "platinum"), (33, nil)]),
        Case(
            name: "A3 the running period is extended after the refund of its renewal, which was charged early",
            events: [
                start,
                renewed(29.5, "2", "gold", 29.5, 60),
                refunded(29.6, 1, "2", "gold", 29.5, 60, reason: "RENEWAL", revoked: 29.6),
                event(
                    "RENEWAL_EXTENDED", 29.7, 1, bought("1", "gold", 0, 32, signed: 29.7),
                    renewal("gold", 32, signed: 29.7)),
            ], access: [(29.55, "gold"), (29.65, "gold"), (31.9, "gold"), (32, nil)]),
        Case(
            name: "A5 an old payload of an early renewal, then an upgrade before it begins",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "silver", 0, 30, reason: nil)),
                event("DID_RENEW", 29.5, nil, bought("2", "silver", 30, 60, signed: 29.5, reason: nil)),
                event("DID_CHANGE_RENEWAL_PREF/UPGRADE", 29.6, nil, bought("3", "gold", 29.6, 59.6, reason: nil)),
            ], access: [(29.5, "silver"), (29.6, "gold"), (30.1, "gold"), (59.5, "gold"), (59.7, nil)]),
        Case(
            name:
                "a status of a refunded period that a resubscription replaced does not prolong the resubscription",
            events: [
                start,
                refunded(5, 5, "1", "gold", 0, 30, revoked: 5),
                event("SUBSCRIBED/RESUBSCRIBE", 6, 1, bought("2", "silver", 6, 13), renewal("silver", 13, signed: 6)),
                event("REFUND_REVERSED", 8, 1, bought("1", "gold", 0, 30, signed: 8), renewal("silver", 13, signed: 8)),
            ], access: [(5.5, "gold"), (6, "silver"), (12.9, "silver"), (13, nil), (29, nil)]),
        Case(
            name:
                "A2, S1 the running period is refunded while the next is paid already: a status ends no period before it begins",
            events: [
                start,
                renewed(29.2, "2", "gold", 30, 60),
                event(
                    "REFUND", 29.4, 5, bought("1", "gold", 0, 30, signed: 29.4, revoked: 29.4),
                    renewal("gold", 60, signed: 29.4)),
                event(
                    "PRICE_INCREASE/ACCEPTED", 29.6, 5, bought("2", "gold", 30, 60, signed: 29.6, reason: "RENEWAL"),
                    renewal("gold", 60, signed: 29.6)),
            ], access: [(29.3, "gold"), (29.5, nil), (29.9, nil), (30, "gold"), (59.9, "gold"), (60, nil)]),
        Case(
            name: "S5 an unknown upgrade replaced the known period for good",
            events: [
                start,
                event(
                    "CONSUMPTION_REQUEST", 5, 1, bought("0", "gold", -30, 0, signed: 5),
                    renewal("platinum", 9, signed: 5)),
            ], access: [(4, "gold"), (5, "platinum"), (8.9, "platinum"), (9, nil), (29, nil)], isUnexplained: true),
        Case(
            name: "seats are added to a resubscription: it still replaces the refunded and reversed period before",
            events: [
                start,
                event("SUBSCRIBED/RESUBSCRIBE", 6, 1, bought("2", "gold", 6, 13), renewal("gold", 13, signed: 6)),
                event("REFUND_REVERSED", 7, 1, bought("1", "gold", 0, 30, signed: 7), renewal("gold", 13, signed: 7)),
                seatsAdded(8, "3", "gold", to: 13),
                event(
                    "REFUND_DECLINED", 9, 1, Sample.seats(bought("2", "gold", 6, 13, signed: 9)),
                    renewal("gold", 13, signed: 9)),
            ], access: [(5, "gold"), (12.9, "gold"), (13, nil)]),
        Case(
            name: "seats were added and refunded, then the period is extended",
            events: [
                start,
                seatsAdded(8, "2", "gold", to: 30),
                event(
                    "REFUND", 9, 1, Sample.seats(bought("2", "gold", 8, 30, signed: 9, revoked: 9)),
                    renewal("gold", 30, signed: 9)),
                event(
                    "RENEWAL_EXTENDED", 10, nil, Sample.seats(bought("1", "gold", 0, 40, signed: 10)),
                    renewal("gold", 40, signed: 10)),
            ], access: [(8, "gold"), (9.5, "gold"), (39.9, "gold"), (40, nil)]),
        Case(
            name: "sandbox: a year of hours after a week of minutes is the later purchase, and its grace counts",
            events: [
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 0, 1, bought("1", "silver", 0, 0.007),
                    renewal("silver", 0.007, signed: 0), environment: .sandbox),
                event(
                    "DID_RENEW", 0.007, 1, bought("2", "gold", 0.007, 0.257, signed: 0.007, reason: "RENEWAL"),
                    renewal("gold", 0.257, signed: 0.007), environment: .sandbox),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 0.2569, 1,
                    bought("2", "gold", 0.007, 0.257, signed: 0.2569, reason: "RENEWAL"),
                    renewal("gold", 0.257, signed: 0.2569, grace: 0.258, retry: false), environment: .sandbox),
            ], access: [(0.006, "silver"), (0.25, "gold"), (0.2571, "gold"), (0.2579, "gold"), (0.258, nil)]),
        Case(
            name:
                "sandbox: an unknown upgrade, whose renewal in the first half of the replaced period was renewed itself",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 0.125), environment: .sandbox),
                event(
                    "DID_RENEW", 0.02, 1, bought("3", "platinum", 0.02, 0.04, signed: 0.02, reason: "RENEWAL"),
                    renewal("platinum", 0.04, signed: 0.02), environment: .sandbox),
                event(
                    "DID_RENEW", 0.0399, 1, bought("4", "platinum", 0.04, 0.06, signed: 0.0399, reason: "RENEWAL"),
                    renewal("platinum", 0.06, signed: 0.0399), environment: .sandbox),
            ], access: [(0.01, "gold"), (0.03, "platinum"), (0.05, "platinum"), (0.06, nil), (0.1, nil)]),
        Case(
            name: "sandbox: charged minutes early, then an upgrade before that renewal begins",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "silver", 0, 0.02), environment: .sandbox),
                event(
                    "DID_RENEW", 0.017, 1, bought("2", "silver", 0.02, 0.04, signed: 0.017, reason: "RENEWAL"),
                    environment: .sandbox),
                event(
                    "DID_CHANGE_RENEWAL_PREF/UPGRADE", 0.018, 1, bought("3", "gold", 0.018, 0.038),
                    renewal("gold", 0.038, signed: 0.018), environment: .sandbox),
            ], access: [(0.017, "silver"), (0.019, "gold"), (0.021, "gold"), (0.037, "gold"), (0.039, nil)]),
        Case(
            name: "S2 billing retry told before the end ends nothing that was paid for, and asks Apple",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW", 29.5, 3, bought("1", "gold", 0, 30, signed: 29.5),
                    renewal("gold", 30, signed: 29.5, retry: true)),
            ], access: [(29.4, "gold"), (29.6, "gold"), (31, nil)], isUnexplained: true),
        Case(
            name: "S2 a transaction that Apple signed after the end that a status told goes on",
            events: [
                start,
                event(
                    "EXPIRED/VOLUNTARY", 5, 2, bought("1", "gold", 0, 30, signed: 5), renewal("gold", 30, signed: 5)),
                event("TRANSACTION", 8, nil, bought("1", "gold", 0, 30, signed: 8)),
            ], access: [(4, "gold"), (9, "gold"), (29.9, "gold"), (30, nil)]),
        Case(
            name: "A2 a renewal within a known period: an upgrade between them is unknown, and ended that period",
            events: [
                start, event("TRANSACTION", 12, nil, bought("3", "platinum", 17, 24, signed: 17, reason: "RENEWAL")),
            ], access: [(16.9, "gold"), (17, "platinum"), (23.9, "platinum"), (24, nil), (29, nil)]),
        Case(
            name: "the renewal was charged early and refunded before it began, then the running period is extended",
            events: [
                start,
                event(
                    "REFUND", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL", revoked: 29.5),
                    renewal("gold", 30, signed: 29.5)),
                event(
                    "RENEWAL_EXTENDED", 29.6, 1, bought("1", "gold", 0, 40, signed: 29.6),
                    renewal("gold", 40, signed: 29.6)),
                event("SUBSCRIBED/RESUBSCRIBE", 50, 1, bought("3", "gold", 50, 80), renewal("gold", 80, signed: 50)),
            ], access: [(29, "gold"), (39.9, "gold"), (40, nil), (49, nil), (51, "gold")]),
        Case(
            name: "A11 family sharing ends after the renewal was charged and before it begins",
            events: [
                start, event("DID_RENEW", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL")),
                event(
                    "REVOKE", 29.8, 5,
                    unshared(bought("2", "gold", 30, 60, signed: 29.8, reason: "RENEWAL", revoked: 29.8))),
            ], access: [(29.7, "gold"), (29.8, nil), (29.9, nil), (30, nil)]),
        Case(
            name: "family sharing ends, told by the running period: the renewal that was charged before begins no more",
            events: [
                start,
                renewed(29.5, "2", "gold", 30, 60),
                event("REVOKE", 29.8, 5, unshared(bought("1", "gold", 0, 30, signed: 29.8, revoked: 29.8))),
            ], access: [(29.7, "gold"), (29.9, nil), (30, nil), (59, nil)]),
        Case(
            name: "A11 the buyer who shares it got a refund of the running period: the renewal charged before begins",
            events: [
                start, event("DID_RENEW", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL")),
                event(
                    "REVOKE", 29.8, 5,
                    {
                        var refunded = unshared(bought("1", "gold", 0, 30, signed: 29.8, revoked: 29.8))
                        refunded.revocationReason = 1
                        return refunded
                    }()),
            ], access: [(29.7, "gold"), (29.9, nil), (30, "gold"), (59.9, "gold"), (60, nil)]),
        Case(
            name: "family sharing ended and began again: Apple signed the running period since",
            events: [
                start,
                event("DID_CHANGE_RENEWAL_PREF/UPGRADE", 5, nil, bought("2", "platinum", 5, 35)),
                event("REVOKE", 10, nil, unshared(bought("1", "gold", 0, 30, signed: 10, revoked: 10))),
                event("TRANSACTION", 12, nil, bought("2", "platinum", 5, 35, signed: 12)),
            ], access: [(4, "gold"), (6, "platinum"), (20, "platinum"), (34, "platinum"), (35, nil)]),
        Case(
            name: "A11 the buyer who shares it got a refund of an old period: the running one stays",
            events: [
                start,
                renewed(30, "2", "gold", 30, 60),
                event(
                    "REVOKE", 40, 1, unshared(bought("1", "gold", 0, 30, signed: 40, revoked: 40)),
                    renewal("gold", 60, signed: 40)),
            ], access: [(41, "gold"), (59, "gold")]),
        Case(
            name: "family sharing ended, and the family shares the next purchase",
            events: [
                start, event("REVOKE", 10, 5, unshared(bought("1", "gold", 0, 30, signed: 10, revoked: 10))),
                event("SUBSCRIBED/RESUBSCRIBE", 20, 1, bought("2", "gold", 20, 50), renewal("gold", 50, signed: 20)),
            ], access: [(9.9, "gold"), (10, nil), (19.9, nil), (20, "gold"), (49, "gold"), (50, nil)]),
        Case(
            name: "a renewal in the first half of a known year: an upgrade between them is unknown, and ended the year",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 365)),
                event("TRANSACTION", 40, nil, bought("3", "platinum", 40, 70, reason: "RENEWAL")),
            ], access: [(39, "gold"), (40, "platinum"), (69, "platinum"), (70, nil), (300, nil)]),
        Case(
            name:
                "a renewal charged early is refunded: Apple's status still grants the period that runs, signed again or not",
            events: [
                event(
                    "REFUND", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL", revoked: 29.5),
                    renewal("gold", 30, signed: 29.5)),
                event(
                    "TRANSACTION", 29.6, nil,
                    bought("2", "gold", 30, 60, signed: 29.6, reason: "RENEWAL", revoked: 29.5)),
            ], access: [(29.6, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "S1 status 5 with the refund of an old period, while a newer one is paid, asks Apple",
            events: [
                start,
                event(
                    "DID_RENEW", 30, 1, bought("2", "gold", 30, 60, reason: "RENEWAL"),
                    renewal("gold", 60, signed: 30)),
                event(
                    "REFUND", 40, 5, bought("1", "gold", 0, 30, signed: 40, revoked: 40),
                    renewal("gold", 60, signed: 40)),
            ], access: [(29, "gold"), (41, "gold"), (59.9, "gold"), (60, nil)], isUnexplained: true),
        Case(
            name: "S1 a status about the first transaction of a period leaves the seats that were added to it",
            events: [
                seatsAdded(8, "2", "gold", to: 30),
                event("REFUND_DECLINED", 20, 5, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 20)),
            ], access: [(8, "gold"), (19, "gold"), (20, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "S1 a status about the first transaction, after seats were added twice and once refunded",
            events: [
                seatsAdded(8, "2", "gold", to: 30),
                event("REFUND", 25, nil, Sample.seats(bought("2", "gold", 8, 30, signed: 25, revoked: 25))),
                event("METADATA_UPDATE", 12, 1, Sample.seats(bought("3", "gold", 12, 30))),
                event("REFUND_DECLINED", 20, 5, bought("1", "gold", 0, 30), renewal("gold", 30, signed: 20)),
            ], access: [(8, "gold"), (20, "gold"), (24, "gold"), (26, "gold"), (29.9, "gold"), (30, nil)]),
        Case(
            name: "S1 a status about the first transaction brings back no seats that an upgrade replaced",
            events: [
                seatsAdded(8, "2", "gold", to: 30),
                event("UPGRADE", 15, 1, bought("3", "platinum", 15, 45), renewal("platinum", 45, signed: 15)),
                event("REFUND_DECLINED", 20, 5, bought("1", "gold", 0, 30), renewal("platinum", 45, signed: 20)),
            ], access: [(8, "gold"), (14, "gold"), (15, "platinum"), (20, "platinum"), (45, nil)], isUnexplained: true),
        Case(
            name: "S1 a status about the seats leaves the period to which they were added",
            events: [
                start,
                event(
                    "REFUND_DECLINED", 20, 5, Sample.seats(bought("2", "gold", 8, 30, signed: 20)),
                    renewal("gold", 30, signed: 20)),
            ], access: [(8, "gold"), (19, "gold"), (20, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "S1 a status about the seats ends them, though the period to which they were added is revoked later",
            events: [
                seatsAdded(8, "2", "gold", to: 30),
                event(
                    "REFUND_DECLINED", 20, 5, Sample.seats(bought("2", "gold", 8, 30, signed: 20)),
                    renewal("gold", 30, signed: 20)),
                event("TRANSACTION", 25, nil, Sample.seats(bought("1", "gold", 0, 30, signed: 25, revoked: 25))),
            ], access: [(19, "gold"), (21, "gold"), (24.9, "gold"), (25, nil), (29, nil)]),
        Case(
            name: "S1 a status about seats leaves the period and the seats that were added after them",
            events: [
                start,
                seatsAdded(12, "3", "gold", to: 30),
                event(
                    "REFUND_DECLINED", 20, 5, Sample.seats(bought("2", "gold", 8, 30, signed: 20)),
                    renewal("gold", 30, signed: 20)),
            ], access: [(19, "gold"), (21, "gold"), (29.9, "gold"), (30, nil)], isUnexplained: true),
        Case(
            name: "a status about the seats ends no period that Apple signed again since",
            events: [
                start,
                event("EXPIRED", 15, 2, Sample.seats(bought("2", "gold", 8, 30, signed: 15))),
                event("TRANSACTION", 20, nil, Sample.seats(bought("1", "gold", 0, 30, signed: 20))),
            ], access: [(8, "gold"), (16, "gold"), (29, "gold"), (30, nil)]),
        Case(
            name: "a renewal date a fraction of a second behind the end of the transaction is no missing transaction",
            events: [
                event(
                    "SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 30), renewal("gold", 30.000_005, signed: 0))
            ], access: [(29.9, "gold"), (30.000_003, nil)]),
        Case(
            name: "S1 status 5 ends a one-time purchase whose transaction has no revocation date",
            events: [
                event("ONE_TIME_CHARGE", 0, nil, Sample.purchase(.nonConsumable, "life")),
                event("REVOKE", 5, 5, Sample.purchase(.nonConsumable, "life")),
            ], access: [(4, "life"), (5, nil), (400, nil)]),
        Case(
            name:
                "A10, S1 one-time purchases of one id follow each other, and status 5 ends that of its transaction alone",
            events: [
                event("ONE_TIME_CHARGE", 0, nil, season("1", 0, 30)),
                event("ONE_TIME_CHARGE", 20, nil, season("2", 20, 50)),
                event("REVOKE", 25, 5, season("1", 0, 30)),
            ], access: [(24, "season"), (26, "season"), (49, "season"), (50, nil)]),
        Case(
            name:
                "A3 sandbox: a renewal that begins seconds before the end of a period renews an unknown upgrade of it",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, 1, bought("1", "gold", 0, 0.0208), environment: .sandbox),
                event(
                    "DID_RENEW", 0.0206, 1, bought("3", "silver", 0.0205, 0.1455, signed: 0.0206, reason: "RENEWAL"),
                    renewal("silver", 0.1455, signed: 0.0206), environment: .sandbox),
            ], access: [(0.02, "gold"), (0.0206, "silver"), (0.145, "silver"), (0.146, nil)]),
        Case(
            name: "an unknown upgrade, of which only a refunded renewal is known",
            events: [
                start,
                event(
                    "REFUND", 10, 1, bought("3", "platinum", 10.5, 40, signed: 10, reason: "RENEWAL", revoked: 10),
                    renewal("platinum", 10.5, signed: 10)),
            ], access: [(9, "gold"), (10, "platinum"), (10.4, "platinum"), (10.5, nil)], isUnexplained: true),
        Case(
            name: "a refund seconds before a status 1, known from the app alone",
            events: [
                start,
                event(
                    "DID_CHANGE_RENEWAL_PREF/DOWNGRADE", 10.001, 1, bought("1", "gold", 0, 30, signed: 10.001),
                    renewal("gold", 30, signed: 10.001)),
                event("TRANSACTION", 10.002, nil, bought("1", "gold", 0, 30, signed: 10.002, revoked: 10)),
            ], access: [(9.9, "gold"), (10.01, nil), (29, nil)]),
        Case(
            name: "grace signed early, after an addition of seats in the last days",
            events: [
                start,
                seatsAdded(29.1, "2", "gold", to: 30),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.2, 1,
                    Sample.seats(bought("2", "gold", 29.1, 30, signed: 29.2)),
                    renewal("gold", 30, signed: 29.2, grace: 46)),
            ], access: [(29, "gold"), (29.5, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "grace after an addition of seats, whose first transaction is refunded",
            events: [
                start,
                seatsAdded(8, "2", "gold", to: 30),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, Sample.seats(bought("2", "gold", 8, 30, signed: 30)),
                    renewal("gold", 30, signed: 30, grace: 46)),
                event(
                    "REFUND", 31, 4, Sample.seats(bought("1", "gold", 0, 30, signed: 31, revoked: 31)),
                    renewal("gold", 30, signed: 31, grace: 46)),
                event("RENEWAL_INFO", 32, nil, nil, renewal("gold", 30, signed: 32, grace: 46)),
            ], access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "S4 a renewal that was charged early is prolonged, told by the renewal info alone",
            events: [
                start,
                renewed(29.5, "2", "gold", 30, 60),
                event(
                    "CONSUMPTION_REQUEST", 29.8, 1, bought("1", "gold", 0, 30, signed: 29.8),
                    renewal("gold", 70, signed: 29.8)),
            ], access: [(29.9, "gold"), (59.9, "gold"), (69.9, "gold"), (70, nil)], isUnexplained: true),
        Case(
            name: "a renewal info without a product replaces nothing",
            events: [
                start,
                event("DID_RENEW", 29.2, nil, bought("2", "silver", 30, 60, signed: 29.2, reason: "RENEWAL")),
                event(
                    "REFUND", 29.6, 1, bought("2", "silver", 30, 60, signed: 29.6, reason: "RENEWAL", revoked: 29.6),
                    renewal(nil, 30, signed: 29.6)),
            ], access: [(29.5, "gold"), (29.9, "gold"), (30, nil)]),
        Case(
            name: "a renewal info names another product than the transaction beside it, which is not upgraded",
            events: [
                event(
                    "CONSUMPTION_REQUEST", 5, 1, bought("1", "gold", 0, 30, signed: 4.999),
                    renewal("platinum", 30, signed: 5))
            ], access: [(4, "gold"), (6, "gold"), (29, "gold"), (30, nil)]),
        Case(
            name: "Apple signed the transaction again after the renewal info that names another product",
            events: [
                event(
                    "CONSUMPTION_REQUEST", 5, 1, bought("0", "gold", -30, 0, signed: 5),
                    renewal("platinum", 9, signed: 5)),
                event("TRANSACTION", 8, nil, bought("1", "gold", 0, 30, signed: 8)),
            ], access: [(4, "gold"), (6, "gold"), (10, "gold"), (29, "gold"), (30, nil)]),
        Case(
            name: "grace, then a resubscription after it that only the app told",
            events: [
                start, grace(status: nil),
                event("TRANSACTION", 50, nil, bought("2", "silver", 50, 80)),
            ], access: [(29, "gold"), (45.9, "gold"), (46, nil), (51, "silver"), (80, nil)]),
        Case(
            name: "G3 grace after an addition of seats, whose first transaction is refunded, as only the app told",
            events: [
                start,
                seatsAdded(8, "2", "gold", to: 30),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, Sample.seats(bought("2", "gold", 8, 30, signed: 30)),
                    renewal("gold", 30, signed: 30, grace: 46)),
                event("TRANSACTION", 31, nil, Sample.seats(bought("1", "gold", 0, 30, signed: 31, revoked: 31))),
            ], access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "grace told before the end of a period whose transaction is unknown: it still runs",
            events: [
                event("DID_FAIL_TO_RENEW/GRACE_PERIOD", 29.5, 4, nil, renewal("gold", 30, signed: 29.5, grace: 46))
            ], access: [(29.6, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "grace after a renewal whose transaction is unknown begins at the renewal date",
            events: [
                start,
                event("DID_FAIL_TO_RENEW/GRACE_PERIOD", 60, 4, nil, renewal("gold", 60, signed: 60, grace: 76)),
            ], access: [(29, "gold"), (40, nil), (60, "gold"), (75.9, "gold"), (76, nil)]),
        Case(
            name: "a purchase in a grace period replaces it for good, although it is refunded",
            events: [
                start, grace(),
                event("TRANSACTION", 36, nil, bought("2", "silver", 35, 65, signed: 36, revoked: 36)),
            ], access: [(34, "gold"), (35.5, "silver"), (37, nil), (45, nil)]),
        Case(
            name: "G2 a week bought in a grace period replaces it for good",
            events: [
                start, grace(),
                event("TRANSACTION", 35, nil, bought("2", "silver", 35, 42)),
            ], access: [(34, "gold"), (35, "silver"), (41, "silver"), (42, nil), (45, nil)]),
        Case(
            name: "grace without a status, and a renewal date a fraction of a second before the end of the transaction",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, nil, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 29.999_995, signed: 30, grace: 46)),
            ], access: [(29, "gold"), (30, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "status 4 opens a grace period of a period that was extended since",
            events: [
                start, grace(),
                event("TRANSACTION", 31, nil, bought("1", "gold", 0, 40, signed: 31)),
            ], access: [(31, "gold"), (39, "gold"), (41, "gold"), (46, nil)]),
        Case(
            name: "status 4 opens a grace period, although the renewal date is behind it",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 60, signed: 30, grace: 46)),
            ], access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "A7 grace without a status, then a renewal that was upgraded, as only the app told",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 31, nil, bought("1", "gold", 0, 30, signed: 31),
                    renewal("gold", 30, signed: 31, grace: 46)),
                event(
                    "TRANSACTION", 36, nil,
                    bought("2", "gold", 30, 60, signed: 36, reason: "RENEWAL", isUpgraded: true)),
            ], access: [(29, "gold"), (35, "gold"), (37, nil), (45, nil)]),
        Case(
            name: "O1 a renewal info that Apple signed after billing retry began opens a grace period",
            events: [
                start,
                event(
                    "DID_FAIL_TO_RENEW", 30, 3, bought("1", "gold", 0, 30, signed: 30),
                    renewal("gold", 30, signed: 30, retry: true)),
                event("RENEWAL_INFO", 30.5, nil, nil, renewal("gold", 30, signed: 30.5, grace: 46)),
            ], access: [(29, "gold"), (31, "gold"), (45.9, "gold"), (46, nil)]),
        Case(
            name: "G3 status 4 after a refund opens a grace period",
            events: [
                start,
                event("TRANSACTION", 20, nil, bought("1", "gold", 0, 30, signed: 20, revoked: 20)),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, 4, bought("1", "gold", 0, 30, signed: 30, revoked: 20),
                    renewal("gold", 30, signed: 30, grace: 46)),
            ], access: [(19, "gold"), (29, nil), (31, "gold"), (46, nil)]),
        Case(
            name: "grace after a refund of one of two transactions with seats, of which the other is unknown",
            events: [
                event(
                    "REFUND", 29.9, 1, Sample.seats(bought("1", "gold", 0, 30, signed: 29.9, revoked: 29.9)),
                    renewal("gold", 30, signed: 29.9, grace: 46))
            ], access: [(29, "gold"), (29.95, "gold"), (31, "gold"), (46, nil)], isUnexplained: true),
        Case(
            name: "a refunded period has no grace by a renewal info alone",
            events: [
                start,
                refunded(20, 5, "1", "gold", 0, 30, revoked: 20),
                event("RENEWAL_INFO", 30, nil, nil, renewal("gold", 30, signed: 30, grace: 46)),
            ], access: [(19, "gold"), (21, nil), (31, nil)]),
        Case(
            name: "G3 a refund after the status takes the grace period",
            events: [
                start, grace(),
                event("TRANSACTION", 32, nil, bought("1", "gold", 0, 30, signed: 32, revoked: 32)),
            ], access: [(29, "gold"), (33, nil), (45, nil)]),
        Case(
            name: "sandbox: grace without a status, told in the first half of a period of minutes",
            events: [
                event(
                    "SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 0.0021),
                    renewal("gold", 0.0021, signed: 0), environment: .sandbox),
                event(
                    "DID_FAIL_TO_RENEW/GRACE_PERIOD", 0.0009, nil, bought("1", "gold", 0, 0.0021, signed: 0.0009),
                    renewal("gold", 0.0021, signed: 0.0009, grace: 0.0042), environment: .sandbox),
            ], access: [(0.002, "gold"), (0.003, "gold"), (0.0042, nil)]),
        Case(
            name: "grace of one product until a purchase of another, without a status",
            events: [
                start, grace(status: nil),
                event("TRANSACTION", 35, nil, bought("2", "silver", 35, 65)),
            ], access: [(34, "gold"), (36, "silver"), (64, "silver"), (65, nil)]),
        Case(
            name: "old payloads: an upgrade before an early renewal begins, which Apple signed again after it began",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "silver", 0, 30, reason: nil)),
                event("DID_CHANGE_RENEWAL_PREF/UPGRADE", 29.6, nil, bought("3", "gold", 29.6, 59.6, reason: nil)),
                event("TRANSACTION", 40, nil, bought("2", "silver", 30, 60, signed: 40, reason: nil)),
            ], access: [(29.5, "silver"), (29.7, "gold"), (30.1, "gold"), (59.5, "gold"), (59.7, nil)]),
        Case(
            name: "old payloads: bought again on the first day, the refund before is unknown",
            events: [
                event("SUBSCRIBED/INITIAL_BUY", 0, nil, bought("1", "gold", 0, 30, reason: nil)),
                event("SUBSCRIBED/RESUBSCRIBE", 0.5, nil, bought("2", "gold", 0.5, 30.5, reason: nil)),
            ], access: [(0.4, "gold"), (0.6, "gold"), (30.4, "gold"), (30.5, nil)]),
        Case(
            name: "an upgrade with seats of a product with seats replaces it",
            events: [
                event("METADATA_UPDATE", 8, nil, Sample.seats(bought("1", "gold", 0, 30, signed: 8))),
                event(
                    "METADATA_UPDATE", 12, nil, Sample.seats(bought("3", "platinum", 10, 40, signed: 12))),
            ], access: [(9, "gold"), (10, "platinum"), (29, "platinum"), (39, "platinum"), (40, nil)]),
        Case(
            name:
                "an assigned seat is taken back, told by the running period: the renewal charged before is gone",
            events: [
                start,
                event("DID_RENEW", 29.5, 1, bought("2", "gold", 30, 60, signed: 29.5, reason: "RENEWAL")),
                event(
                    "REVOKE", 29.8, 5,
                    unshared(bought("1", "gold", 0, 30, signed: 29.8, revoked: 29.8), "ASSIGNMENT_REVOKE")),
            ], access: [(29.7, "gold"), (29.9, nil), (30, nil), (59, nil)]),
        Case(
            name: "a refunded renewal within a later purchase, and a renewal date after both",
            events: [
                start,
                event("TRANSACTION", 35, nil, bought("2", "gold", 30, 60, signed: 35, reason: "RENEWAL", revoked: 35)),
                event("DID_CHANGE_RENEWAL_PREF/UPGRADE", 33, nil, bought("3", "platinum", 33, 63)),
                event("RENEWAL_INFO", 36, nil, nil, renewal("platinum", 70, signed: 36)),
            ],
            access: [(29, "gold"), (32, "gold"), (34, "platinum"), (62, "platinum"), (69, "platinum"), (70, nil)],
            isUnexplained: true),
    ]

    /// Billing failed at the end of `start`'s period.
    private static func grace(status: Int? = 4) -> PurchaseEvent {
        event(
            "DID_FAIL_TO_RENEW/GRACE_PERIOD", 30, status, bought("1", "gold", 0, 30, signed: 30),
            renewal("gold", 30, signed: 30, grace: 46))
    }

    private static func season(_ id: String, _ from: Double, _ to: Double) -> TransactionFacts {
        var facts = Sample.purchase(.nonRenewing, "season", at: from, to: to)
        facts.transactionId = id
        return facts
    }

    private static func unshared(_ transaction: TransactionFacts, _ type: String = "FAMILY_REVOKE") -> TransactionFacts
    {
        var transaction = transaction
        transaction.revocationType = type
        return transaction
    }
}
