import AppStore

/// What is wrong with a forged notification.
enum InvalidVariant: Sendable, CaseIterable {
    /// Changed after it was signed.
    case tampered
    /// Signed by somebody else's authority, which looks like Apple's.
    case wrongRoot
    /// `alg` is `none`.
    case unsigned
    /// Rightly signed, but for another developer's app.
    case strangersApp
    /// The envelope and the transaction in it speak of different customers.
    case foreignTransaction

    /// The reason the verifier must give.
    var reason: RefusalReason {
        switch self {
        case .tampered: .signature
        case .wrongRoot: .chainUntrusted
        case .unsigned: .algorithm
        case .strangersApp: .appUnknown
        case .foreignTransaction: .nestedMismatch
        }
    }

    /// Whether an event has what this one falsifies.
    func applies(to event: EventPayload) -> Bool { self != .foreignTransaction || event.renewal != nil }
}
