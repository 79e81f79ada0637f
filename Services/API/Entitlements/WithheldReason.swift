import Subscriptions

/// Why a purchase gives an account no access.
enum WithheldReason: Sendable, Equatable {
    /// Its own state, such as `expired`.
    case state(SubscriptionState)
    /// No notification about it is known.
    case notFound
    /// Another account of the app has it.
    case otherAccount
    /// Another account has it, and the account has sent an old copy.
    case oldCopy
    /// Several accounts claim it, and the policy gives it to none of them.
    case refused
    /// The request has an id and nothing signed, by which no account claims a purchase.
    case notClaimed
    /// Another account has it, and restores have moved it too often.
    case tooManyTransfers
    /// Other accounts, as many as may claim one Apple account, have sent evidence that is as strong.
    case tooManyAccounts

    /// - Parameters:
    ///   - evidence: of the account's upload; nil where it has none.
    ///   - isTaken: whether another account owns or claims the purchase.
    init(_ evidence: ClaimEvidence?, isTaken: Bool) {
        self =
            switch evidence {
            case .old: .oldCopy
            case nil: isTaken ? .otherAccount : .notClaimed
            default: .otherAccount
            }
    }

    /// - Parameter because: the rule by which the account may not use a purchase that gives access; nil where it is not stored.
    init(_ because: PurchaseAccount.Reason?) {
        self =
            switch because {
            case .refused: .refused
            case .oldCopy: .oldCopy
            default: .otherAccount
            }
    }

    /// The word in answers.
    var name: String {
        switch self {
        case .state(let state): state.rawValue
        case .notFound: "notFound"
        case .otherAccount: "otherAccount"
        case .oldCopy: "oldCopy"
        case .refused: "refused"
        case .notClaimed: "notClaimed"
        case .tooManyTransfers: "tooManyTransfers"
        case .tooManyAccounts: "tooManyAccounts"
        }
    }

    /// What the app or its customer can do; nil where nothing but a purchase helps.
    var nextStep: String? {
        switch self {
        case .state, .notFound: nil
        case .otherAccount:
            "Log in with the account that has the purchase, or restore it with POST /v1/restores, which moves it where the "
                + "policy of the app says so; send deviceVerificationId where the policy asks for it."
        case .refused:
            "Several accounts claim it, and the policy of the app gives it to none of them: an operator can choose one with "
                + "storekeeper customers choose."
        case .oldCopy:
            "Call AppStore.sync() in the app and send the transactions that it then has: they are newly signed."
        case .tooManyTransfers:
            "An operator can choose the account with storekeeper customers choose; then restore it once more, with another "
                + "Idempotency-Key. Without that, restore it when 30 days have passed."
        case .tooManyAccounts:
            "Log in with an account that has it, or send deviceVerificationId, which is stronger evidence; a key with the scope "
                + "purchases:assign assigns it, and storekeeper customers policy --most-accounts lets more accounts claim."
        case .notClaimed:
            "Send the signed transaction of the app; call AppStore.sync() where it has none. An id alone claims nothing."
        }
    }
}
