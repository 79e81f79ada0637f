/// A restore of a purchase by an account of the app, decided once, when it is made. Pure.
public struct Restore: Sendable {
    /// Whether the purchase moves to the account.
    public enum Outcome: String, Sendable, CaseIterable {
        case accepted
        /// An operator chose an account for the purchase.
        case chosen
        /// The app's policy lets no restore move a purchase.
        case policy
        /// The evidence is too weak: an id, an old copy, or no device mark where the policy asks for one.
        case evidence
        /// The policy moves lapsed purchases alone, and this one is in use.
        case inUse
        /// It has moved too often within 30 days.
        case tooMany
    }

    /// The account that restores, lower-case UUID text.
    public var account: String
    /// Nil where the account has sent nothing that Apple signed.
    public var evidence: ClaimEvidence?
    /// The accounts that have the purchase before.
    public var holders: [String]
    /// The account that Apple names; nil where it names none.
    public var buyer: String?
    /// Whether an operator chose an account of the same Apple account.
    public var isChosenByOperator: Bool
    /// Whether the purchase gives no access and Apple does not retry its payment.
    public var isLapsed: Bool
    /// Of the last 30 days.
    public var countedMoves: Int

    package init(
        account: String, evidence: ClaimEvidence?, holders: [String], buyer: String?, isChosenByOperator: Bool,
        isLapsed: Bool, countedMoves: Int
    ) {
        self.account = account
        self.evidence = evidence
        self.holders = holders
        self.buyer = buyer
        self.isChosenByOperator = isChosenByOperator
        self.isLapsed = isLapsed
        self.countedMoves = countedMoves
    }

    /// - Returns: nil where nothing would move: the account has the purchase, or no account has it.
    public func outcome(_ policy: SharingPolicy, needsDevice: Bool) -> Outcome? {
        guard !holders.isEmpty, !holders.contains(account) else { return nil }
        if isChosenByOperator { return .chosen }
        // The buyer can always take back.
        if account == buyer { return .accepted }
        guard policy == .lastRestoreWins || policy == .lastRestoreWinsIfLapsed else { return .policy }
        guard let evidence, evidence <= (needsDevice ? .device : .signed) else { return .evidence }
        if policy == .lastRestoreWinsIfLapsed, !isLapsed { return .inUse }
        return countedMoves < PurchaseMove.limit ? .accepted : .tooMany
    }
}
