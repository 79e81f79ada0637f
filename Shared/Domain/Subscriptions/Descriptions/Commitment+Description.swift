import Contracts

extension Commitment {
    /// `payment 3 of 12`; nil where Apple did not say which.
    public var progress: String? {
        billingPeriodNumber.map { number in "payment \(number)\(totalBillingPeriods.map { " of \($0)" } ?? "")" }
    }

    /// What the customer owes, for an operator: `payment 3 of 12, bound until 2026-…; the next payment is 9.990 EUR; …`.
    /// - Parameters:
    ///   - transaction: whose currency the whole price has.
    ///   - renewal: what Apple says of the next payment.
    public func text(_ transaction: TransactionFacts?, _ renewal: RenewalFacts?) -> String {
        let until = expiresDate.map { "bound until \($0.iso8601)" }
        var parts = [[progress, until].compactMap(\.self).joined(separator: ", ")].filter { !$0.isEmpty }
        if let price = priceMilliunits {
            parts.append("all payments together are \(Self.money(price, transaction?.currency))")
        }
        if !isLastPayment, let price = renewal?.renewalPriceMilliunits {
            parts.append("the next payment is \(Self.money(price, renewal?.currency))")
        }
        switch autoRenewStatus {
        case true?: parts.append("after it, \(following(renewal))")
        case false?: parts.append("nothing follows it, because the customer cancelled its renewal")
        case nil: break
        }
        return parts.isEmpty ? "a commitment of which Apple says no more" : parts.joined(separator: "; ")
    }

    private var isLastPayment: Bool { billingPeriodNumber != nil && billingPeriodNumber == totalBillingPeriods }

    private func following(_ renewal: RenewalFacts?) -> String {
        let price = renewalPriceMilliunits.map { " for \(Self.money($0, renewal?.currency))" } ?? ""
        return "\(autoRenewProductId ?? "another") follows\(renewalDate.map { " on \($0.iso8601)" } ?? "")\(price)"
    }

    /// `9.990 EUR`.
    package static func money(_ milliunits: Int64, _ currency: String?) -> String {
        let (units, rest) = milliunits.magnitude.quotientAndRemainder(dividingBy: 1000)
        let digits = String(rest)
        let padding = String(repeating: "0", count: 3 - digits.utf8.count)
        return "\(milliunits < 0 ? "-" : "")\(units).\(padding)\(digits)\(currency.map { " \($0)" } ?? "")"
    }
}
