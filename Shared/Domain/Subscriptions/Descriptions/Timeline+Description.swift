import Contracts

extension Change {
    /// A row of the timeline as an English sentence for an operator. An unknown fact, written by a newer build, appears by
    /// its raw name.
    /// - Parameters:
    ///   - fact: the name of the fact in the timeline.
    ///   - transactionId: the earlier transaction that the row is about, if any.
    public static func sentence(fact: String, from: String?, to: String?, transactionId: String?) -> String {
        let earlier = transactionId.map { "transaction \($0)" } ?? "transaction"
        switch (Fact(rawValue: fact), EarlierTransaction.Fact(rawValue: fact)) {
        case (let known?, _): return Change(fact: known, from: from, to: to).sentence
        case (_, .revocationDate):
            return "The earlier \(earlier) was refunded or revoked on \(to ?? "an unknown date")."
        case (_, .expiresDate): return "The earlier \(earlier) gives access until \(to ?? "an unknown date")."
        case (nil, nil): break
        }
        if fact == FactChange.accessUntil {
            return switch to {
            case "none": "Access ended."
            case "open": "Access has no known end."
            default: "Access ends on \(to ?? "an unknown date")."
            }
        }
        if fact == FactChange.refundRequest, let status = to.flatMap(RefundRequest.Status.init(rawValue:)) {
            let transaction = transactionId.map { "transaction \($0)" } ?? "the transaction"
            return switch status {
            case .requested: "The customer asked Apple to refund \(transaction)."
            case .refunded: "Apple refunded \(transaction)."
            case .declined: "Apple declined to refund \(transaction)."
            case .reversed: "Apple took back the refund of \(transaction)."
            }
        }
        if fact == FactChange.sharedAccount {
            return "The app's account \(to ?? "?") uses the same Apple account as \(from ?? "another one")."
        }
        if fact == FactChange.account {
            return "The purchase moved from the app's account \(from ?? "?") to \(to ?? "another one")."
        }
        return "The \(fact) \(to.map { "is \($0)" } ?? "was removed")\(from.map { "; it was \($0)" } ?? "")."
    }
}
