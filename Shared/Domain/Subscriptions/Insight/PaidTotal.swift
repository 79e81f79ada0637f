/// What a customer paid for a purchase in one currency, over all of its transactions.
package struct PaidTotal: Sendable, Hashable {
    /// ISO 4217 code.
    package var currency: String
    /// Thousandths of a unit of currency, as are those below; refunds are not subtracted.
    package var charged: Int64
    package var refunded: Int64
    /// Transactions that cost something.
    package var charges: Int

    package init(currency: String, charged: Int64 = 0, refunded: Int64 = 0, charges: Int = 0) {
        (self.currency, self.charged, self.refunded, self.charges) = (currency, charged, refunded, charges)
    }

    /// One for each currency, in order of their codes. A transaction without a signed price, as before 2024, is in none; what another
    /// purchase pays for costs nothing.
    package static func all(of transactions: [TransactionFacts]) -> [PaidTotal] {
        var totals: [String: PaidTotal] = [:]
        for facts in transactions where !facts.isPaidElsewhere {
            guard let price = facts.priceMilliunits, price > 0, let currency = facts.currency else { continue }
            var total = totals[currency] ?? PaidTotal(currency: currency)
            total.charged = total.charged.addingReportingOverflow(price).partialValue
            total.refunded = total.refunded.addingReportingOverflow(facts.refundedMilliunits ?? 0).partialValue
            total.charges += 1
            totals[currency] = total
        }
        return totals.values.sorted { $0.currency < $1.currency }
    }
}
