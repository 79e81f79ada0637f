import Foundation
import StrictJSON
import Testing

@testable import Refunds

@Suite struct RefundPolicyTests {
    static let example = """
        { "consent": {"terms": "2026-03", "acceptedSince": "2026-03-01"},
          "rules": [
            {"name": "renewal not noticed", "if": {"sinceRenewal": {"atMost": "PT24H"}, "refunds": {"within": "P365D", "atMost": 0}}, "then": {"preference": "GRANT_FULL"}},
            {"name": "used up", "if": {"productTypes": ["Consumable"], "usage": {"atLeast": 80000}}, "then": {"preference": "DECLINE"}},
            {"name": "third refund in a year", "if": {"refunds": {"within": "P365D", "atLeast": 2}}, "then": {"preference": "DECLINE"}},
            {"name": "else", "then": {"preference": null, "waitForUsage": "PT30M"}} ] }
        """
    static let requestedAt = Date(timeIntervalSince1970: 1_790_000_000)

    static func policy(_ text: String) throws -> RefundPolicy { try RefundPolicy(Array(text.utf8)) }

    /// A consumable of 9.99 EUR whose customer consented, asked about a day after it was bought.
    static func subject(_ change: (inout RefundSubject) -> Void = { _ in }) -> RefundSubject {
        var subject = RefundSubject(
            transactionId: "1", bundleId: "com.example.app", productId: "coins", productType: "Consumable",
            requestedAt: requestedAt)
        subject.purchasedAt = requestedAt.addingTimeInterval(-86_400)
        subject.originallyPurchasedAt = subject.purchasedAt
        (subject.currency, subject.priceMilliunits, subject.storefront) = ("EUR", 9990, "DEU")
        subject.paidTransactions = 1
        subject.account = RefundSubject.Account(
            createdAt: requestedAt.addingTimeInterval(-100 * 86_400),
            consent: (true, requestedAt.addingTimeInterval(-60)))
        change(&subject)
        return subject
    }

    /// The first of some rules that decides, by its name.
    static func rule(_ conditions: String, _ subject: RefundSubject) throws -> String {
        let policy = try policy(
            #"{"rules": [{"name": "yes", "if": \#(conditions), "then": {"preference": null}}, "#
                + #"{"name": "no", "then": {"preference": null}}]}"#)
        guard case .answer(_, let rule) = policy.decide(subject, at: requestedAt) else { return "nothing" }
        return rule
    }

    @Test func `The example decides by its first rule that holds, and waits for usage where none does`() throws {
        let policy = try Self.policy(Self.example)
        #expect(policy.warnings == [])
        let renewed = Self.subject {
            $0.productType = "Auto-Renewable Subscription"
            $0.purchasedAt = Self.requestedAt.addingTimeInterval(-3600)
            $0.originallyPurchasedAt = Self.requestedAt.addingTimeInterval(-31 * 86_400)
        }
        guard case .answer(let answer, "renewal not noticed") = policy.decide(renewed, at: Self.requestedAt) else {
            Issue.record("\(policy.decide(renewed, at: Self.requestedAt))")
            return
        }
        #expect(answer.preference == .grantFull)
        let refundedBefore = Self.subject {
            $0 = renewed
            $0.refunds = [100.0, 300, 400].map { Self.requestedAt.addingTimeInterval(-$0 * 86_400) }
        }
        guard case .answer(let third, "third refund in a year") = policy.decide(refundedBefore, at: Self.requestedAt)
        else {
            Issue.record("\(policy.decide(refundedBefore, at: Self.requestedAt))")
            return
        }
        #expect(third.preference == .decline)
        let plain = Self.subject()
        let end = Self.requestedAt.addingTimeInterval(1800)
        #expect(policy.decide(plain, at: Self.requestedAt) == .wait(until: end, rule: "else"))
        #expect(policy.decide(plain, at: end) == .answer(RefundAnswer(nil, about: plain), rule: "else"))
        let used = Self.subject { $0.usage = .init(percentage: 90_000) }
        #expect(
            policy.decide(used, at: Self.requestedAt) == .answer(RefundAnswer(.decline, about: used), rule: "used up"))
    }

    @Test(arguments: [
        (#"{"reasons": ["LEGAL", "OTHER"]}"#, "LEGAL", "UNINTENDED_PURCHASE"),
        (#"{"products": ["coins"]}"#, "coins", "gems"),
    ])
    func `A list holds for its values, and not for what is unknown`(conditions: String, held: String, other: String)
        throws
    {
        func subject(_ text: String?) -> RefundSubject {
            Self.subject {
                if conditions.contains("reasons") { $0.reason = text } else { $0.productId = text ?? "" }
            }
        }
        #expect(try Self.rule(conditions, subject(held)) == "yes")
        #expect(try Self.rule(conditions, subject(other)) == "no")
        #expect(try Self.rule(conditions, subject(nil)) == "no")
    }

    /// Conditions, whether they hold for the usual subject, and whether for one about which nothing is known.
    @Test(arguments: [
        (#"{"productTypes": ["Consumable"]}"#, true, true), (#"{"storefronts": ["DEU"]}"#, true, false),
        (#"{"storefronts": ["USA"]}"#, false, false),
        (#"{"sincePurchase": {"atLeast": "P1D", "atMost": "PT24H"}}"#, true, false),
        (#"{"sincePurchase": {"atMost": "PT23H59M59S"}}"#, false, false),
        (#"{"sinceRenewal": {"atMost": "P30D"}}"#, false, false),
        (#"{"accountAge": {"atLeast": "P100D"}}"#, true, false), (#"{"accountAge": {"atMost": "P99D"}}"#, false, false),
        (#"{"isFirstPayment": false}"#, true, true), (#"{"convertedFromTrial": true}"#, false, false),
        (#"{"price": {"atMost": {"EUR": 9990, "USD": 1}}}"#, true, false),
        (#"{"price": {"atMost": {"USD": 100000}}}"#, false, false),
        (#"{"price": {"atMost": {"EUR": 9989}}}"#, false, false),
        (#"{"refunds": {"within": "P1D", "atMost": 0}}"#, true, true),
        (#"{"refundRequests": {"within": "P1D", "atLeast": 1}}"#, false, false),
        (#"{"paidTransactions": {"atLeast": 1, "atMost": 1}}"#, true, false),
        (#"{"usage": {"reported": false}}"#, true, true), (#"{"usage": {"atMost": 100000}}"#, false, false),
        (#"{"deliveryStatus": ["DELIVERED"]}"#, false, false),
    ])
    func `A condition holds for what is known, and never for what is not`(
        conditions: String, holds: Bool, holdsOfNothing: Bool
    ) throws {
        #expect(try Self.rule(conditions, Self.subject()) == (holds ? "yes" : "no"))
        var nothing = RefundSubject(
            transactionId: "1", bundleId: "b", productId: "p", productType: "Consumable", requestedAt: Self.requestedAt)
        nothing.account = RefundSubject.Account(consent: (true, .distantPast))
        #expect(try Self.rule(conditions, nothing) == (holdsOfNothing ? "yes" : "no"))
    }

    @Test func `Counts are of the time before the request, both ends included`() throws {
        let rule = #"{"refunds": {"within": "P1D", "atLeast": 2}}"#
        func subject(_ seconds: [Double]) -> RefundSubject {
            Self.subject { $0.refunds = seconds.map { Self.requestedAt.addingTimeInterval($0) } }
        }
        #expect(try Self.rule(rule, subject([0, -86_400])) == "yes")
        #expect(try Self.rule(rule, subject([0, -86_401])) == "no")
        #expect(try Self.rule(rule, subject([0, 1])) == "no")
    }

    @Test func `Consent: the newest record counts, terms count for accounts without one, and a parent ends both`() {
        let terms = RefundPolicy.Consent(terms: "t", acceptedSince: Date(timeIntervalSince1970: 100))
        func account(created: Double?, consent: (Bool, Double)? = nil, rescinded: Double? = nil)
            -> RefundSubject.Account
        {
            RefundSubject.Account(
                createdAt: created.map { Date(timeIntervalSince1970: $0) },
                consent: consent.map { ($0.0, Date(timeIntervalSince1970: $0.1)) },
                rescindedAt: rescinded.map { Date(timeIntervalSince1970: $0) })
        }
        for (account, byRecord, byTerms) in [
            (account(created: nil), false, false), (account(created: 99), false, false),
            (account(created: 100), false, true), (account(created: 100, rescinded: 101), false, false),
            (account(created: 102, rescinded: 101), false, true),
            (account(created: 100, consent: (false, 150)), false, false),
            (account(created: 1, consent: (true, 150)), true, true),
            (account(created: 1, consent: (true, 150), rescinded: 150), false, false),
            (account(created: 1, consent: (true, 150), rescinded: 149), true, true),
        ] {
            #expect(account.isConsenting(under: nil) == byRecord, "\(account)")
            #expect(account.isConsenting(under: terms) == byTerms, "\(account)")
        }
    }

    @Test func `Nothing is answered without consent, about a family member's transaction, by rule or in the hold-out`()
        throws
    {
        let policy = try Self.policy(
            #"{"holdOut": 99, "rules": [{"name": "legal", "if": {"reasons": ["LEGAL"]}, "then": {"answer": false}}, "#
                + #"{"name": "else", "then": {"preference": "DECLINE"}}]}"#)
        func decide(_ change: (inout RefundSubject) -> Void) -> RefundDecision {
            policy.decide(Self.subject(change), at: Self.requestedAt)
        }
        #expect(decide { $0.account = nil } == .withhold(.consent, rule: nil))
        #expect(decide { $0.account?.consent = nil } == .withhold(.consent, rule: nil))
        #expect(decide { $0.isFamilyShared = true } == .withhold(.familyShared, rule: nil))
        #expect(decide { $0.reason = "LEGAL" } == .withhold(.rule, rule: "legal"))
        #expect(decide { $0.transactionId = "2" } == .withhold(.holdOut, rule: "else"))
    }

    @Test func `The hold-out is the same transactions every time, and about its percentage of them`() {
        let ids = (0..<10_000).map { "20000000\($0)" }
        for percentage in [0, 5, 50] {
            let held = ids.filter { RefundPolicy.isHeldOut($0, percentage: percentage) }
            #expect(abs(held.count - percentage * 100) < 200, "\(held.count)")
            #expect(held == ids.filter { RefundPolicy.isHeldOut($0, percentage: percentage) })
        }
        #expect(
            ids.allSatisfy {
                !RefundPolicy.isHeldOut($0, percentage: 5) || RefundPolicy.isHeldOut($0, percentage: 50)
            })
    }

    @Test func `Warnings name a policy that always declines and rules that can never decide`() throws {
        func warnings(_ rules: String) throws -> [String] { try Self.policy(#"{"rules": [\#(rules)]}"#).warnings }
        let last = #"{"name": "else", "then": {"preference": "DECLINE"}}"#
        #expect(try warnings(last).first?.hasPrefix("Every rule declines") == true)
        #expect(try warnings(#"{"name": "else", "then": {"preference": null}}"#) == [])
        let mixed = #", {"name": "else", "then": {"preference": null}}"#
        func second(_ first: String, _ second: String) throws -> [String] {
            try warnings(
                #"{"name": "a", "if": \#(first), "then": {"preference": null}}, "#
                    + #"{"name": "b", "if": \#(second), "then": {"preference": null}}"# + mixed)
        }
        let hidden = [
            ("{}", #"{"reasons": ["LEGAL"]}"#), (#"{"reasons": ["LEGAL", "OTHER"]}"#, #"{"reasons": ["LEGAL"]}"#),
            (
                #"{"sincePurchase": {"atMost": "P2D"}}"#,
                #"{"sincePurchase": {"atMost": "P1D"}, "isFirstPayment": true}"#
            ),
            (#"{"usage": {"reported": true}}"#, #"{"usage": {"atLeast": 5}}"#),
            (#"{"price": {"atMost": {"EUR": 5, "USD": 5}}}"#, #"{"price": {"atMost": {"EUR": 4}}}"#),
        ]
        for (first, hidden) in hidden {
            let found = try second(first, hidden)
            // A rule without conditions hides the last one, too.
            #expect(found.first?.hasPrefix("Rule 2 “b” can never decide: rule 1 “a”") == true, "\(found)")
        }
        for (first, other) in [
            (#"{"reasons": ["LEGAL"]}"#, #"{"reasons": ["LEGAL", "OTHER"]}"#),
            (#"{"refunds": {"within": "P1D", "atLeast": 1}}"#, #"{"refunds": {"within": "P2D", "atLeast": 1}}"#),
            (#"{"usage": {"atLeast": 5}}"#, #"{"usage": {"reported": true}}"#),
        ] { #expect(try second(first, other) == []) }
        #expect(
            try second(#"{"accountAge": {"atLeast": "P2D", "atMost": "P1D"}}"#, #"{"reasons": ["LEGAL"]}"#).first?
                .contains("contradict") == true)
    }

    /// Documents and the beginnings of what is wrong with them.
    static let wrong: [(String, [String])] = [
        ("{", ["document: JSON"]), ("[]", ["must be an object"]), ("{}", ["needs rules"]),
        (#"{"rules": []}"#, ["needs rules"]), (#"{"rule": [1]}"#, ["rule: is unknown; known here", "needs rules"]),
        (
            #"{"rules": [{"name": "a", "then": {"preference": "decline"}}]}"#,
            ["rule 1 “a”, then.preference: must be DECLINE"]
        ),
        (#"{"rules": [{"name": "a", "then": {}}]}"#, ["rule 1 “a”, then: needs preference"]),
        (#"{"rules": [{"name": "a"}]}"#, ["rule 1 “a”: needs then"]),
        (#"{"rules": [{"then": {}}]}"#, ["rule 1: needs a name"]),
        (
            #"{"rules": [{"name": "a", "if": {"reasons": ["LEGAL"]}, "then": {"answer": false}}]}"#,
            ["rule 1 “a”, if: the last rule must have no conditions"]
        ),
        (
            #"{"rules": [{"name": "a", "if": {"usage": {"atLeast": "80%"}}, "then": {"answer": false}}, {"name": "a", "then": {"answer": true}}]}"#,
            [
                "rule 1 “a”, if.usage.atLeast: must be a whole number from 0 to 100000",
                "rules: two rules have the name “a”",
            ]
        ),
        (
            #"{"holdOut": 100, "consent": {"terms": "1", "acceptedSince": "March"}, "rules": [{"name": "a", "then": {"preference": null, "waitForUsage": "PT12H"}}]}"#,
            [
                "consent: needs acceptedSince", "holdOut: must be a whole percentage",
                "rule 1 “a”, then.waitForUsage: must be at most PT11H",
            ]
        ),
        (
            #"{"rules": [{"name": "x", "if": {"sincePurchase": {"atMost": "P1M"}, "reasons": ["BORED"], "storefronts": ["de"], "price": {"atMost": {"euro": 1.5}}, "refunds": {"atLeast": 1}, "colour": 1}, "then": {"answer": false, "preference": "DECLINE"}}, {"name": "else", "then": {"answer": false}}]}"#,
            [
                "rule 1 “x”, if.colour: is unknown", "rule 1 “x”, if.reasons: “BORED” is unknown",
                "rule 1 “x”, if.storefronts: “de” is no storefront",
                "rule 1 “x”, if.sincePurchase.atMost: must be a duration",
                "rule 1 “x”, if.price.atMost.euro: “euro” is no currency",
                "rule 1 “x”, if.price.atMost.euro: must be a whole number",
                "rule 1 “x”, if.refunds: needs within", "rule 1 “x”, then.answer: is false",
            ]
        ),
    ]

    @Test(arguments: wrong)
    func `A policy that is not accepted says all that is wrong, by rule and field`(document: String, says: [String]) {
        do {
            _ = try Self.policy(document)
            Issue.record("accepted: \(document)")
        } catch let error as RefundPolicyFaults {
            let lines = error.faults.map(\.description)
            #expect(
                lines.count == says.count
                    && zip(lines, says).allSatisfy { $0.hasPrefix($1) || $0 == ": \($1)" || $0.contains($1) },
                "\(lines)")
        } catch { Issue.record(error) }
    }

    @Test(arguments: [
        ("P1D", 86_400.0), ("PT24H", 86_400), ("PT1H30M", 5400), ("P1W", 604_800), ("P1DT1S", 86_401), ("PT0S", 0),
    ])
    func `Durations have a fixed length`(text: String, seconds: Double) {
        #expect(PolicyDuration.seconds(text) == seconds)
        for wrong in ["", "P", "PT", "P1", "1D", "P1M", "P1Y", "P1DT", "P-1D", "P1.5D", "PT1M1H", "P99999999D", "pt1h"]
        {
            #expect(PolicyDuration.seconds(wrong) == nil, "\(wrong)")
        }
    }
}
