import struct Foundation.Date

extension PurchaseEvent {
    /// What the event reports, in English for an operator. It depends on the event alone, not on the state of the purchase.
    public var sentence: String {
        var sentences = [mainSentence]
        if let commitment { sentences.append("The commitment: \(commitment.text(transaction, renewal)).") }
        if !unknownFields.isEmpty { sentences.append("Unknown values: \(unknownFields.joined(separator: ", ")).") }
        if !unreadableFields.isEmpty { sentences.append("Unreadable: \(unreadableFields.joined(separator: ", ")).") }
        return sentences.joined(separator: " ")
    }

    private var mainSentence: String {
        switch part {
        case .transaction:
            return "A signed transaction reports \(product) \(until(transaction?.expiresDate))."
        case .renewalInfo: return "Signed renewal information reports the next renewal of \(product)."
        case .appTransaction, nil: break
        }
        guard let eventType else {
            return "Apple sent \(eventName), which this version does not know; its transaction and status count."
        }
        return eventType.sentence(of: self)
    }

    /// What the customer owes; nil where the subscription has no commitment.
    var commitment: Commitment? { Commitment(transaction: transaction, renewal: renewal) }

    var product: String { transaction?.productId ?? renewal?.productId ?? "an unnamed product" }

    /// `until 2026-01-31T10:00:00.000Z`, or `without an end date`.
    func until(_ date: Date?) -> String { date.map { "until \($0.iso8601)" } ?? "without an end date" }

    /// The time from signing to the end of the period, in words.
    var moment: String {
        guard let end = transaction?.expiresDate else { return "at a time unknown within the period" }
        let lapse = RoundedDuration(from: version.signedDate, to: end)
        return lapse.isNegative
            ? "\(lapse.words) after the end of the period" : "\(lapse.words) before the end of the period"
    }

    /// Where Apple charged before the end of the period that runs, as it may up to a day before.
    var early: String {
        guard isPaidAhead, let begin = transaction?.beginning else { return "" }
        return ", charged early: the period begins on \(begin.iso8601)"
    }

    var offer: String {
        guard let transaction, transaction.offerType != nil || transaction.offerIdentifier != nil else { return "" }
        let kind =
            switch transaction.offerType {
            case 1: "an introductory offer"
            case 2: "a promotional offer"
            case 3: "an offer code"
            case 4: "a win-back offer"
            default: "an offer"
            }
        let free = transaction.offerDiscountType == "FREE_TRIAL" ? ", free of charge" : ""
        return " with \(kind)\(transaction.offerIdentifier.map { " (\($0))" } ?? "")\(free)"
    }

    /// ` from 9.990 EUR to 12.050 EUR on 2026-01-31T10:00:00.000Z`: what the customer pays, the next price, and when it takes
    /// effect. Without the first where an offer or a change of product is the difference.
    var price: String {
        guard let milliunits = renewal?.renewalPriceMilliunits, let currency = renewal?.currency else { return "" }
        let isOfProduct = renewal?.autoRenewProductId.map { $0 == transaction?.productId } ?? true
        let isComparable =
            isOfProduct && transaction?.offerType == nil && renewal?.offerType == nil
            && transaction?.currency == currency
        let old = isComparable ? transaction?.priceMilliunits.map { " from \(Commitment.money($0, currency))" } : nil
        let date = (renewal?.renewalDate ?? transaction?.expiresDate).map { " on \($0.iso8601)" }
        return "\(old ?? "") to \(Commitment.money(milliunits, currency))\(date ?? "")"
    }
}
