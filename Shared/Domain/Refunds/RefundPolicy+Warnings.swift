extension RefundPolicy {
    /// What is allowed and probably not meant.
    package var warnings: [String] {
        var warnings: [String] = []
        let answers = rules.compactMap { rule -> RefundPreference?? in
            guard case .answer(let preference, _) = rule.result else { return nil }
            return .some(preference)
        }
        if answers.count == rules.count, answers.allSatisfy({ $0 == .some(.decline) }) {
            warnings.append(
                "Every rule declines: Apple gives less weight to a preference that never varies, and customers turn to their banks "
                    + "instead. Add a rule for requests that you would grant.")
        }
        for (place, rule) in rules.enumerated() {
            if rule.conditions.isContradictory {
                warnings.append(
                    "Rule \(place + 1) “\(rule.name)” can never decide: its conditions contradict each other. Correct its bounds."
                )
            } else if let earlier = rules[..<place].firstIndex(where: { $0.conditions.isImplied(by: rule.conditions) })
            {
                warnings.append(
                    "Rule \(place + 1) “\(rule.name)” can never decide: rule \(earlier + 1) “\(rules[earlier].name)” holds whenever "
                        + "it does. Move it up or remove it.")
            }
        }
        return warnings
    }
}

extension RefundPolicy.Conditions {
    /// Whether no request can meet them.
    var isContradictory: Bool {
        let bounds = [
            sincePurchase, sinceRenewal, accountAge, paidTransactions, refunds?.bounds, refundRequests?.bounds,
            usage?.percentage,
        ]
        if usage?.isReported == false, usage?.percentage != nil { return true }
        return bounds.contains { $0?.isEmpty ?? false }
    }

    /// Whether they hold for every request for which the others do.
    func isImplied(by others: Self) -> Bool {
        func contains<Value>(_ own: Value?, _ other: Value?, _ isIncluded: (Value, Value) -> Bool) -> Bool {
            own.map { own in other.map { isIncluded($0, own) } ?? false } ?? true
        }
        let texts: [KeyPath<Self, Set<String>?>] = [
            \.reasons, \.products, \.productTypes, \.storefronts, \.deliveryStatus,
        ]
        let bounds: [KeyPath<Self, RefundPolicy.Bounds?>] = [
            \.sincePurchase, \.sinceRenewal, \.accountAge, \.paidTransactions,
        ]
        let counts: [KeyPath<Self, RefundPolicy.Count?>] = [\.refunds, \.refundRequests]
        return texts.allSatisfy { contains(self[keyPath: $0], others[keyPath: $0]) { $0.isSubset(of: $1) } }
            && bounds.allSatisfy { contains(self[keyPath: $0], others[keyPath: $0]) { $0.isWithin($1) } }
            && counts.allSatisfy {
                contains(self[keyPath: $0], others[keyPath: $0]) {
                    $0.within == $1.within && $0.bounds.isWithin($1.bounds)
                }
            }
            && contains(isFirstPayment, others.isFirstPayment, ==)
            && contains(convertedFromTrial, others.convertedFromTrial, ==)
            && contains(price, others.price) { other, own in
                other.allSatisfy { currency, most in own[currency].map { most <= $0 } ?? false }
            }
            && contains(usage, others.usage) { other, own in
                let isReported = other.isReported == true || other.percentage != nil
                let holdsReport =
                    own.isReported.map { $0 ? isReported : (other.isReported == false) } ?? true
                return holdsReport && contains(own.percentage, other.percentage) { $0.isWithin($1) }
            }
    }
}

extension RefundPolicy.Bounds {
    fileprivate var isEmpty: Bool { atLeast.map { least in atMost.map { least > $0 } ?? false } ?? false }

    /// Whether every value within these is within the others.
    fileprivate func isWithin(_ other: Self) -> Bool {
        (other.atLeast.map { bound in atLeast.map { $0 >= bound } ?? false } ?? true)
            && (other.atMost.map { bound in atMost.map { $0 <= bound } ?? false } ?? true)
    }
}
