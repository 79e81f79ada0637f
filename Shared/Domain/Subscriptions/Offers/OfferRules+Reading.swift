import StrictJSON

import struct Foundation.Date

extension OfferRules {
    /// The most bytes of a document.
    package static let limit = 262_144

    /// Reads a document.
    /// - Throws: everything that is wrong with it.
    package init(_ document: [UInt8]) throws(OfferRuleFaults) {
        let root: JSONValue
        do throws(JSONFault) {
            root = try JSONDocument(document, limits: JSONLimits(bytes: Self.limit)).root
        } catch { throw OfferRuleFaults(faults: ["document: \(error)"]) }
        var reader = OfferRulesReader()
        let rules = reader.rules(root)
        guard reader.faults.isEmpty else { throw OfferRuleFaults(faults: reader.faults) }
        self.init(rules: rules)
    }
}

/// Why rules are not accepted: everything that is wrong with them.
package struct OfferRuleFaults: Error, Sendable, Equatable, CustomStringConvertible {
    /// Each with its place and what to write instead.
    package var faults: [String]

    package var description: String { faults.joined(separator: "\n") }
}

/// Reads the rules and collects what is wrong.
private struct OfferRulesReader {
    var faults: [String] = []
    /// The rule that is read, for messages.
    private var place = ""

    /// A hundred years: longer is a typing error.
    private static let days: ClosedRange<Int64> = 1...36_500

    private mutating func fail(_ field: String, _ problem: String) {
        faults.append([place, field].filter { !$0.isEmpty }.joined(separator: ", ") + ": \(problem)")
    }

    mutating func rules(_ root: JSONValue) -> [OfferRule] {
        guard check(root, "document", knowing: ["rules"]) else { return [] }
        guard let list = root["rules"], list.kind == .array, list.elements.count <= 1000 else {
            fail("rules", "must be a list of at most 1000 rules; an empty one allows no offer")
            return []
        }
        var seen: Set<[String]> = []
        let rules = list.elements.enumerated().compactMap { index, value -> OfferRule? in
            place = "rule \(index + 1)"
            guard let rule = rule(value) else { return nil }
            if !seen.insert([rule.productId, rule.offerIdentifier]).inserted {
                fail("", "another rule is about offer “\(rule.offerIdentifier)” of \(rule.productId); write one")
            }
            return rule
        }
        place = ""
        return rules
    }

    private mutating func rule(_ value: JSONValue) -> OfferRule? {
        let known = [
            "productId", "offerIdentifier", "subscriptionGroupIdentifier", "who", "lapsedDays", "noRefundDays",
            "atMost",
            "from", "until",
        ]
        guard check(value, "", knowing: known) else { return nil }
        let product = text(value, "productId", isRequired: true)
        let offer = text(value, "offerIdentifier", isRequired: true)
        let group = text(value, "subscriptionGroupIdentifier", isRequired: false)
        let who = who(value)
        let lapsedDays = days(value, "lapsedDays")
        if lapsedDays != nil, !who.contains(.lapsed) {
            fail("lapsedDays", "is for customers who are lapsed; add lapsed to who, or remove it")
        }
        let noRefundDays = days(value, "noRefundDays")
        let limit = limit(value)
        let (from, until) = (date(value, "from"), date(value, "until"))
        if let from, let until, from >= until { fail("until", "must be after from") }
        guard let product, let offer, let limit else { return nil }
        return OfferRule(
            productId: product, offerIdentifier: offer, subscriptionGroupIdentifier: group, who: who,
            lapsedDays: lapsedDays ?? 0, noRefundDays: noRefundDays, atMost: limit, from: from, until: until)
    }

    private mutating func who(_ rule: JSONValue) -> Set<OfferRule.Who> {
        let texts = rule["who"].flatMap { $0.kind == .array ? $0.elements.map(\.string) : nil } ?? []
        let known = texts.compactMap { $0.flatMap(OfferRule.Who.init) }
        if known.isEmpty || known.count < texts.count {
            let all = OfferRule.Who.allCases.map(\.rawValue).joined(separator: ", ")
            fail("who", "must be a list of one or more of \(all)")
        }
        return Set(known)
    }

    private mutating func limit(_ rule: JSONValue) -> OfferRule.Limit? {
        guard let value = rule["atMost"], value.kind == .object,
            let count = value["count"]?.int64, 1...1000 ~= count, let days = value["days"]?.int64, Self.days ~= days
        else {
            fail("atMost", #"must be signatures for each customer within days, such as {"count": 1, "days": 365}"#)
            return nil
        }
        return check(value, "atMost", knowing: ["count", "days"]) ? OfferRule.Limit(count: count, days: days) : nil
    }

    private mutating func text(_ rule: JSONValue, _ name: String, isRequired: Bool) -> String? {
        guard isRequired || rule[name]?.isNull == false else { return nil }
        guard let text = rule[name]?.string, 1...200 ~= text.utf8.count, !text.utf8.contains(0) else {
            fail(name, "must be a text of one to 200 bytes, as in App Store Connect")
            return nil
        }
        return text
    }

    private mutating func days(_ rule: JSONValue, _ name: String) -> Int64? {
        guard let value = rule[name], !value.isNull else { return nil }
        guard let days = value.int64, Self.days ~= days else {
            fail(name, "must be a number of days from \(Self.days.lowerBound) to \(Self.days.upperBound)")
            return nil
        }
        return days
    }

    private mutating func date(_ rule: JSONValue, _ name: String) -> Date? {
        guard let value = rule[name], !value.isNull else { return nil }
        let moment = value.string.map { $0.contains("T") ? $0 : $0 + "T00:00:00Z" }
        guard let date = moment.flatMap({ try? Date($0, strategy: .iso8601) }) else {
            fail(name, "must be a date such as 2026-03-01 or a moment such as 2026-03-01T12:00:00Z")
            return nil
        }
        return date
    }

    private mutating func check(_ value: JSONValue, _ field: String, knowing names: [String]) -> Bool {
        guard value.kind == .object else {
            fail(field, "must be an object with \(names.joined(separator: ", "))")
            return false
        }
        for (key, _) in value.members where !names.contains(key) {
            fail(field.isEmpty ? key : "\(field).\(key)", "is unknown; known here are \(names.joined(separator: ", "))")
        }
        return true
    }
}
