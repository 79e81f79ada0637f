/// Why a purchase gives one of the app's accounts no access. Decided here alone; the API, the console and the command line put it
/// into words.
package enum WithheldReason: Sendable, Hashable {
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

    /// The reason by what is stored: the state of the purchase, or where that gives access, the rule about its accounts.
    /// - Parameters:
    ///   - state: nil where the purchase is not stored.
    ///   - because: the rule by which the account may not use it; nil where none is stored.
    package init(_ state: SubscriptionState?, _ because: PurchaseAccount.Reason?) {
        guard let state else {
            self = .notFound
            return
        }
        self = state.givesAccess ? WithheldReason(because) : .state(state)
    }

    /// - Parameter because: the rule by which the account may not use a purchase that gives access; nil where none is stored.
    package init(_ because: PurchaseAccount.Reason?) {
        self =
            switch because {
            case .refused: .refused
            case .oldCopy: .oldCopy
            default: .otherAccount
            }
    }

    /// The reason for an account that does not have a purchase which it uploads.
    /// - Parameters:
    ///   - evidence: of the upload; nil where it has none.
    ///   - isTaken: whether another account owns or claims the purchase.
    package init(_ evidence: ClaimEvidence?, isTaken: Bool) {
        self =
            switch evidence {
            case .old: .oldCopy
            case nil: isTaken ? .otherAccount : .notClaimed
            default: .otherAccount
            }
    }

    /// The word in answers of the API, of the command line and in exports.
    package var name: String {
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
}

extension SubscriptionState {
    /// True where the purchase gives access to any account; an account without access then is not the entitled one.
    package var givesAccess: Bool {
        switch self {
        case .active, .gracePeriod, .owned: true
        default: false
        }
    }
}
