/// The evidence by which one of the app's accounts claims a purchase, from strong to weak. A purchase for which only an id is
/// given, such as a transaction id, has none, and is not claimed.
public enum ClaimEvidence: String, Sendable, Hashable, CaseIterable, Comparable {
    /// A transaction that Apple signed names the account.
    case apple
    /// An operator, or a key with the scope `purchases:assign`, assigned it with a reason.
    case `operator`
    /// A signed transaction that was made on the device of the request.
    case device
    /// A signed transaction, or receipt, that Apple signed recently.
    case signed
    /// An earlier signed copy: it claims only what no other account owns or claims.
    case old

    /// The stronger one is less, so that it comes first.
    public static func < (left: ClaimEvidence, right: ClaimEvidence) -> Bool { left.strength > right.strength }

    private var strength: Int {
        switch self {
        case .apple: 5
        case .operator: 4
        case .device: 3
        case .signed: 2
        case .old: 1
        }
    }
}
