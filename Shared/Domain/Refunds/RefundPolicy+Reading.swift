import StrictJSON
import Subscriptions

import struct Foundation.Date

extension RefundPolicy {
    /// The most bytes of a document.
    package static let limit = 65_536
    /// The longest that a rule may wait for a usage report, in seconds: an hour is left to send the answer.
    package static let longestWait = 11.0 * 3600

    /// Reads a document.
    /// - Throws: everything that is wrong with it.
    package init(_ document: [UInt8]) throws(RefundPolicyFaults) {
        let root: JSONValue
        do throws(JSONFault) {
            root = try JSONDocument(document, limits: JSONLimits(bytes: Self.limit)).root
        } catch {
            throw RefundPolicyFaults(faults: [.init(rule: nil, field: "document", problem: "\(error)")])
        }
        var reader = RefundPolicyReader()
        let policy = reader.policy(root)
        guard reader.faults.isEmpty, let policy else { throw RefundPolicyFaults(faults: reader.faults) }
        self = policy
    }
}

/// Reads the parts of a policy and collects what is wrong.
private struct RefundPolicyReader {
    var faults: [RefundPolicyFaults.Fault] = []

    /// A value of the document, with its place for messages.
    struct Field {
        var value: JSONValue
        var rule: String?
        var path: String

        func member(_ name: String) -> Field? {
            value[name].flatMap {
                $0.isNull ? nil : Field(value: $0, rule: rule, path: path.isEmpty ? name : "\(path).\(name)")
            }
        }

        /// The value as it was written, cut.
        var written: String {
            let text = String(decoding: value.rawBytes.prefix(60), as: UTF8.self)
            return value.rawBytes.count > 60 ? text + "…" : text
        }
    }

    mutating func fail(_ field: Field, _ problem: String) {
        faults.append(.init(rule: field.rule, field: field.path, problem: problem))
    }

    mutating func policy(_ root: JSONValue) -> RefundPolicy? {
        let field = Field(value: root, rule: nil, path: "")
        guard checkObject(field, knowing: ["consent", "holdOut", "rules"]) else { return nil }
        let consent = field.member("consent").flatMap { readConsent($0) }
        let holdOut =
            field.member("holdOut").flatMap { readInteger($0, 0...99, "a whole percentage from 0 to 99") } ?? 0
        let rules = readRules(field)
        return RefundPolicy(consent: consent, holdOut: Int(holdOut), rules: rules)
    }

    private mutating func readConsent(_ field: Field) -> RefundPolicy.Consent? {
        guard checkObject(field, knowing: ["terms", "acceptedSince"]) else { return nil }
        guard let terms = field.member("terms")?.value.string, !terms.isEmpty, terms.utf8.count <= 100 else {
            fail(field, "needs terms, the version of the terms that customers accepted, at most 100 bytes")
            return nil
        }
        guard let since = field.member("acceptedSince")?.value.string.flatMap(Self.date) else {
            fail(field, "needs acceptedSince, a date such as 2026-03-01 or a moment such as 2026-03-01T12:00:00Z")
            return nil
        }
        return RefundPolicy.Consent(terms: terms, acceptedSince: since)
    }

    private static func date(_ text: String) -> Date? {
        let moment = text.contains("T") ? text : text + "T00:00:00Z"
        return try? Date(moment, strategy: .iso8601)
    }

    private mutating func readRules(_ root: Field) -> [RefundPolicy.Rule] {
        guard let list = root.member("rules"), list.value.kind == .array, !list.value.elements.isEmpty else {
            fail(root, "needs rules, a list with at least one rule; the last one has no conditions")
            return []
        }
        guard list.value.elements.count <= 100 else {
            fail(list, "has \(list.value.elements.count) rules; write at most 100")
            return []
        }
        let rules = list.value.elements.enumerated().compactMap { index, value in
            readRule(value, number: index + 1)
        }
        var names: Set<String> = []
        for rule in rules where !names.insert(rule.name).inserted {
            fail(list, "two rules have the name “\(rule.name)”; outcomes are counted by name, so give each its own")
        }
        if let last = list.value.elements.last, let conditions = last["if"], !conditions.isNull,
            conditions.kind != .object || !conditions.members.isEmpty
        {
            let name = last["name"]?.string.map { "rule \(list.value.elements.count) “\($0)”" }
            fail(
                Field(value: conditions, rule: name ?? "rule \(list.value.elements.count)", path: "if"),
                "the last rule must have no conditions, so that every request has a rule; add one, such as "
                    + #"{"name": "else", "then": {"preference": null}}"#)
        }
        return rules
    }

    private mutating func readRule(_ value: JSONValue, number: Int) -> RefundPolicy.Rule? {
        var field = Field(value: value, rule: "rule \(number)", path: "")
        guard checkObject(field, knowing: ["name", "if", "then"]) else { return nil }
        guard let name = field.member("name")?.value.string, !name.isEmpty, name.utf8.count <= 100 else {
            fail(field, "needs a name of at most 100 bytes")
            return nil
        }
        field.rule = "rule \(number) “\(name)”"
        let conditions = field.member("if").map { readConditions($0) } ?? RefundPolicy.Conditions()
        guard let then = field.member("then") else {
            fail(field, #"needs then, such as {"preference": "DECLINE"} or {"answer": false}"#)
            return nil
        }
        return RefundPolicy.Rule(name: name, conditions: conditions, result: readResult(then))
    }

    private mutating func readResult(_ field: Field) -> RefundPolicy.Result {
        guard checkObject(field, knowing: ["preference", "waitForUsage", "answer"]) else { return .none }
        var preference: RefundPreference?
        if let member = field.member("preference") {
            preference = member.value.string.flatMap(RefundPreference.init)
            if preference == nil {
                fail(member, "must be \(Self.list(RefundPreference.self)), or null for none, not \(member.written)")
            }
        }
        let wait = field.member("waitForUsage").map { member in
            let seconds = readDuration(member)
            if let seconds, seconds > RefundPolicy.longestWait {
                fail(member, "must be at most PT11H, not \(member.written): Apple takes an answer for 12 hours")
            }
            return seconds ?? 0
        }
        if let member = field.member("answer") {
            guard let answers = member.value.bool else {
                fail(member, "must be true or false, not \(member.written)")
                return .none
            }
            if !answers {
                if preference != nil || wait != nil {
                    fail(member, "is false, so there is no preference and nothing to wait for; remove the others")
                }
                return .none
            }
        } else if field.value["preference"] == nil {
            fail(field, #"needs preference (null for none) or "answer": false"#)
        }
        return .answer(preference, waitForUsage: wait ?? 0)
    }

    private mutating func readConditions(_ field: Field) -> RefundPolicy.Conditions {
        var conditions = RefundPolicy.Conditions()
        guard
            checkObject(
                field,
                knowing: [
                    "reasons", "products", "productTypes", "storefronts", "sincePurchase", "sinceRenewal", "accountAge",
                    "isFirstPayment", "convertedFromTrial", "price", "refunds", "refundRequests", "paidTransactions",
                    "usage", "deliveryStatus",
                ])
        else { return conditions }
        conditions.reasons = readTexts(field, "reasons", among: RefundReason.allCases.map(\.rawValue))
        conditions.products = readTexts(field, "products")
        conditions.productTypes = readTexts(field, "productTypes", among: ProductKind.allCases.map(\.rawValue))
        conditions.storefronts = readStorefronts(field)
        conditions.deliveryStatus = readTexts(field, "deliveryStatus", among: DeliveryStatus.allCases.map(\.rawValue))
        conditions.sincePurchase = field.member("sincePurchase").flatMap { readDurations($0) }
        conditions.sinceRenewal = field.member("sinceRenewal").flatMap { readDurations($0) }
        conditions.accountAge = field.member("accountAge").flatMap { readDurations($0) }
        conditions.isFirstPayment = readFlag(field, "isFirstPayment")
        conditions.convertedFromTrial = readFlag(field, "convertedFromTrial")
        conditions.price = field.member("price").flatMap { readPrice($0) }
        conditions.refunds = field.member("refunds").flatMap { readCount($0) }
        conditions.refundRequests = field.member("refundRequests").flatMap { readCount($0) }
        conditions.paidTransactions = field.member("paidTransactions").flatMap {
            checkObject($0, knowing: ["atLeast", "atMost"])
                ? readNumbers($0, 0...1_000_000, "a whole number from 0 to 1000000") : nil
        }
        conditions.usage = field.member("usage").flatMap { readUsage($0) }
        return conditions
    }

    private mutating func readStorefronts(_ field: Field) -> Set<String>? {
        guard let values = readTexts(field, "storefronts") else { return nil }
        for value in values.sorted() where value.utf8.count != 3 || value.contains(where: { !("A"..."Z" ~= $0) }) {
            if let member = field.member("storefronts") {
                fail(member, "“\(value)” is no storefront; Apple's have three letters, such as DEU or USA")
            }
        }
        return values
    }

    private mutating func readUsage(_ field: Field) -> RefundPolicy.Usage? {
        guard checkObject(field, knowing: ["reported", "atLeast", "atMost"]) else { return nil }
        var usage = RefundPolicy.Usage()
        usage.isReported = readFlag(field, "reported")
        if field.member("atLeast") != nil || field.member("atMost") != nil {
            usage.percentage = readNumbers(
                field, 0...100_000, "a whole number from 0 to 100000, thousandths of a per cent (80000 is 80 %)")
        }
        if usage.isReported == nil, usage.percentage == nil, faults.isEmpty {
            fail(field, "needs reported, atLeast or atMost")
        }
        return usage
    }

    private mutating func readCount(_ field: Field) -> RefundPolicy.Count? {
        guard checkObject(field, knowing: ["within", "atLeast", "atMost"]) else { return nil }
        guard let within = field.member("within") else {
            fail(field, "needs within, a duration such as P365D")
            return nil
        }
        guard let seconds = readDuration(within),
            let bounds = readNumbers(field, 0...100_000, "a whole number from 0 to 100000")
        else { return nil }
        return RefundPolicy.Count(within: seconds, bounds: bounds)
    }

    private mutating func readPrice(_ field: Field) -> [String: Int64]? {
        guard checkObject(field, knowing: ["atMost"]) else { return nil }
        guard let most = field.member("atMost"), most.value.kind == .object, !most.value.members.isEmpty else {
            fail(field, #"needs atMost with a price for each currency, such as {"EUR": 9990, "USD": 9990}"#)
            return nil
        }
        var prices: [String: Int64] = [:]
        for (currency, value) in most.value.members {
            let member = Field(value: value, rule: field.rule, path: "\(most.path).\(currency)")
            if currency.utf8.count != 3 || currency.contains(where: { !("A"..."Z" ~= $0) }) {
                fail(member, "“\(currency)” is no currency; write its three letters, such as EUR")
            }
            prices[currency] = readInteger(
                member, 0...1_000_000_000_000,
                "a whole number, thousandths of a unit of the currency as in Apple's price (9990 is 9.99)")
        }
        return prices
    }

    // MARK: Values

    private mutating func readDurations(_ field: Field) -> RefundPolicy.Bounds? {
        guard checkObject(field, knowing: ["atLeast", "atMost"]) else { return nil }
        let bounds = RefundPolicy.Bounds(
            atLeast: field.member("atLeast").flatMap { readDuration($0) },
            atMost: field.member("atMost").flatMap { readDuration($0) })
        if field.member("atLeast") == nil, field.member("atMost") == nil {
            fail(field, "needs atLeast or atMost, durations such as PT24H or P30D")
        }
        return bounds
    }

    private mutating func readNumbers(_ field: Field, _ range: ClosedRange<Int64>, _ form: String) -> RefundPolicy
        .Bounds?
    {
        if field.member("atLeast") == nil, field.member("atMost") == nil {
            fail(field, "needs atLeast or atMost, \(form)")
            return nil
        }
        return RefundPolicy.Bounds(
            atLeast: field.member("atLeast").flatMap { readInteger($0, range, form) }.map(Double.init),
            atMost: field.member("atMost").flatMap { readInteger($0, range, form) }.map(Double.init))
    }

    private mutating func readDuration(_ field: Field) -> Double? {
        guard let seconds = field.value.string.flatMap(PolicyDuration.seconds) else {
            fail(
                field,
                "must be a duration in weeks, days, hours, minutes or seconds, such as P30D, PT24H or PT30M, not "
                    + "\(field.written); months and years differ in length, so write P30D or P365D")
            return nil
        }
        return seconds
    }

    private mutating func readInteger(_ field: Field, _ range: ClosedRange<Int64>, _ form: String) -> Int64? {
        guard let number = field.value.int64, range.contains(number) else {
            fail(field, "must be \(form), not \(field.written)")
            return nil
        }
        return number
    }

    private mutating func readFlag(_ parent: Field, _ name: String) -> Bool? {
        guard let field = parent.member(name) else { return nil }
        guard let flag = field.value.bool else {
            fail(field, "must be true or false, not \(field.written)")
            return nil
        }
        return flag
    }

    private mutating func readTexts(_ parent: Field, _ name: String, among known: [String]? = nil) -> Set<String>? {
        guard let field = parent.member(name) else { return nil }
        let values = field.value.kind == .array ? field.value.elements.map(\.string) : []
        guard !values.isEmpty, values.count <= 1000, values.allSatisfy({ $0 != nil && $0 != "" }) else {
            fail(field, "must be a list of one to 1000 texts, not \(field.written)")
            return nil
        }
        for value in values.compactMap(\.self) {
            if let known, !known.contains(value) {
                fail(field, "“\(value)” is unknown; write one of \(known.joined(separator: ", "))")
            }
        }
        return Set(values.compactMap(\.self))
    }

    private mutating func checkObject(_ field: Field, knowing names: [String]) -> Bool {
        guard field.value.kind == .object else {
            fail(field, "must be an object with \(names.joined(separator: ", ")), not \(field.written)")
            return false
        }
        for (key, value) in field.value.members where !names.contains(key) {
            let path = field.path.isEmpty ? key : "\(field.path).\(key)"
            fail(
                Field(value: value, rule: field.rule, path: path),
                "is unknown; known here are \(names.joined(separator: ", "))")
        }
        return true
    }

    private static func list<Value: RawRepresentable<String> & CaseIterable>(_ type: Value.Type) -> String {
        type.allCases.map(\.rawValue).joined(separator: ", ")
    }
}
