import Foundation
import Testing

@testable import Subscriptions

@Suite struct OfferRulesTests {
    static let now = Date(timeIntervalSince1970: 1_800_000_000)
    static func ago(_ days: Double) -> Date { now.addingTimeInterval(-days * 86_400) }

    static func customer(
        hasPaid: Bool = true, _ standings: [OfferCustomer.Standing] = [], refunded: [Date] = [], group: String? = "g"
    ) -> OfferCustomer {
        var customer = OfferCustomer()
        customer.hasPaid = hasPaid
        customer.subscriptions = standings.map { OfferCustomer.Subscription(group: group, standing: $0) }
        customer.refunds = refunded
        return customer
    }

    static func rule(_ who: OfferRule.Who..., change: (inout OfferRule) -> Void = { _ in }) -> OfferRule {
        var rule = OfferRule(
            productId: "pro", offerIdentifier: "spring", who: Set(who), atMost: OfferRule.Limit(count: 1, days: 30))
        change(&rule)
        return rule
    }

    /// A life, and the kinds of customers that it makes.
    static let lives: [(OfferCustomer, Set<OfferRule.Who>)] = [
        (customer(hasPaid: false), [.neverPaid]),
        (customer(hasPaid: false, [.active(renews: true)]), [.neverPaid, .active]),
        (customer(hasPaid: false, [.ended(at: ago(3))]), [.neverPaid, .lapsed]),
        (customer(), []),
        (customer([.active(renews: true)]), [.active]),
        (customer([.active(renews: false)]), [.active, .autoRenewOff]),
        (customer([.active(renews: true), .ended(at: ago(3))]), [.active]),
        (customer([.ended(at: ago(3))]), [.lapsed]),
        (customer([.ended(at: ago(400)), .ended(at: ago(3))]), [.lapsed]),
        (customer([.undecided]), []),
        (customer([.undecided, .ended(at: ago(3))]), []),
        (customer([.ended(at: ago(-1))]), []),
    ]

    @Test func `A rule is for the customers that it names`() {
        for (customer, kinds) in Self.lives {
            for who in OfferRule.Who.allCases {
                let refusal = Self.rule(who).refusal(of: customer, at: Self.now)
                #expect(refusal == (kinds.contains(who) ? nil : .notAmong([who])), "\(who) \(customer)")
            }
        }
    }

    @Test func `A customer has lapsed since the last subscription ended, for days`() {
        let customer = Self.customer([.ended(at: Self.ago(400)), .ended(at: Self.ago(30))])
        func refusal(_ days: Int64) -> OfferRefusal? {
            Self.rule(.lapsed) { $0.lapsedDays = days }.refusal(of: customer, at: Self.now)
        }
        #expect(refusal(30) == nil)
        #expect(refusal(31) == .lapsedTooRecently(at: Self.ago(30), days: 31))
    }

    @Test func `A refund within the days excludes every customer`() {
        let customer = Self.customer([.active(renews: true)], refunded: [Self.ago(90), Self.ago(30)])
        func refusal(_ days: Int64?) -> OfferRefusal? {
            Self.rule(.active) { $0.noRefundDays = days }.refusal(of: customer, at: Self.now)
        }
        #expect(refusal(nil) == nil && refusal(30) == nil)
        #expect(refusal(31) == .refunded(at: Self.ago(30), days: 31))
    }

    @Test func `A rule holds from its beginning until before its end`() {
        func refusal(_ from: Date?, _ until: Date?) -> OfferRefusal? {
            Self.rule(.neverPaid) { ($0.from, $0.until) = (from, until) }
                .refusal(of: Self.customer(hasPaid: false), at: Self.now)
        }
        #expect(refusal(Self.now, Self.ago(-1)) == nil)
        #expect(refusal(Self.ago(-1), nil) == .notBegun(Self.ago(-1)))
        #expect(refusal(nil, Self.now) == .ended(Self.now))
    }

    @Test func `A group looks at its own subscriptions`() {
        let rule = Self.rule(.active) { $0.subscriptionGroupIdentifier = "other" }
        let customer = Self.customer([.active(renews: true)])
        #expect(rule.refusal(of: customer, at: Self.now) == .notAmong([.active]))
    }

    @Test func `Signatures count within the days, those ahead of the clock too`() {
        let rule = Self.rule(.active) { $0.atMost = OfferRule.Limit(count: 2, days: 30) }
        #expect(rule.refusal(after: [Self.ago(30), Self.ago(29)], at: Self.now) == nil)
        #expect(rule.refusal(after: [Self.ago(-0.01), Self.ago(29)], at: Self.now) == .signedTooOften(rule.atMost))
    }

    @Test func `A document is read, and its offers are found`() throws {
        let document = """
            {"rules": [
                {"productId": "pro", "offerIdentifier": "spring", "who": ["autoRenewOff", "lapsed"], "lapsedDays": 30,
                 "noRefundDays": 90, "atMost": {"count": 1, "days": 365}, "from": "2026-03-01",
                 "until": "2026-06-01T12:00:00Z", "subscriptionGroupIdentifier": "g"},
                {"productId": "pro", "offerIdentifier": "welcome", "who": ["neverPaid"], "atMost": {"count": 3, "days": 7}}
            ]}
            """
        let rules = try OfferRules(Array(document.utf8))
        let expected = OfferRule(
            productId: "pro", offerIdentifier: "spring", subscriptionGroupIdentifier: "g",
            who: [.autoRenewOff, .lapsed],
            lapsedDays: 30, noRefundDays: 90, atMost: OfferRule.Limit(count: 1, days: 365),
            from: Date(timeIntervalSince1970: 1_772_323_200), until: Date(timeIntervalSince1970: 1_780_315_200))
        #expect(rules.rule(of: "pro", "spring") == expected)
        #expect(rules.rule(of: "pro", "welcome")?.atMost == OfferRule.Limit(count: 3, days: 7))
        #expect(rules.rule(of: "pro.yearly", "spring") == nil)
        #expect(try OfferRules(Array(#"{"rules": []}"#.utf8)).rules == [])
    }

    @Test(arguments: [
        ("[", "document: "), ("{}", "rules: must be a list"), (#"{"rules": [], "who": 1}"#, "document.who: is unknown"),
        (#"{"rules": [1]}"#, "rule 1: must be an object"), (change(#""who":"#, #""Who":"#), "rule 1, Who: is unknown"),
        (change(#"["active"]"#, "[]"), "rule 1, who: must be a list"),
        (change(#"["active"]"#, #"["active", "friends"]"#), "rule 1, who: must be a list"),
        (change(#""count": 1"#, #""count": 0"#), "rule 1, atMost: must be"),
        (change(#""productId": "pro", "#, ""), "rule 1, productId: must be a text"),
        (change("}]}", #", "lapsedDays": 3}]}"#), "rule 1, lapsedDays: is for customers"),
        (change("}]}", #", "noRefundDays": 1.5}]}"#), "rule 1, noRefundDays: must be a number"),
        (change("}]}", #", "from": "soon"}]}"#), "rule 1, from: must be a date"),
        (change("}]}", #", "from": "2026-02-01", "until": "2026-02-01"}]}"#), "rule 1, until: must be after"),
        (change("]}", ", \(one)]}"), "rule 2: another rule is about"),
    ])
    func `A document with a fault is rejected with its place`(document: String, fault: String) {
        let faults = #expect(throws: OfferRuleFaults.self) { try OfferRules(Array(document.utf8)) }
        #expect(faults?.description.contains(fault) == true, "\(faults?.description ?? "")")
    }

    static let one =
        #"{"productId": "pro", "offerIdentifier": "spring", "who": ["active"], "atMost": {"count": 1, "days": 30}}"#

    static func change(_ text: String, _ other: String) -> String {
        // The last one, so that an end of the document can be named.
        let whole = #"{"rules": [\#(one)]}"#
        guard let range = whole.range(of: text, options: .backwards) else { return whole }
        return whole.replacingCharacters(in: range, with: other)
    }
}
