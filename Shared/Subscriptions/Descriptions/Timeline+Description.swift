import Contracts

extension Change {
    /// What a row of the timeline says, for an operator; a fact that only a newer build knows is named as it stands.
    /// - Parameters:
    ///   - fact: by the name that the timeline gives it.
    ///   - transactionId: of the earlier transaction it is about, if any.
    public static func sentence(fact: String, from: String?, to: String?, transactionId: String?) -> String {
        let earlier = transactionId.map { "transaction \($0)" } ?? "transaction"
        switch (Fact(rawValue: fact), EarlierTransaction.Fact(rawValue: fact)) {
        case (let known?, _): return Change(fact: known, from: from, to: to).sentence
        case (_, .revocationDate): return "The earlier \(earlier) was taken back on \(to ?? "an unknown date")."
        case (_, .expiresDate): return "The earlier \(earlier) runs until \(to ?? "an unknown date")."
        case (nil, nil): break
        }
        if fact == FactChange.accessUntil {
            return switch to {
            case "none": "Access ended."
            case "open": "There is access, and no end of it is known."
            default: "There is access until \(to ?? "an unknown date")."
            }
        }
        if fact == FactChange.sharedAccount {
            return "The app's account \(to ?? "?") was found on the Apple account of \(from ?? "another one")."
        }
        return "The \(fact) is \(to ?? "no longer there")\(from.map { "; it was \($0)" } ?? "")."
    }
}
