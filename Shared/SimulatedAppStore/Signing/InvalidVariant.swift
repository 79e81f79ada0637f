import AppStore

/// What is wrong with a forged notification.
enum InvalidVariant: Sendable, CaseIterable {
    /// Changed after it was signed.
    case tampered
    /// Signed by another authority that looks like Apple's.
    case wrongRoot
    /// `alg` is `none`.
    case unsigned
    /// Correctly signed, but for another developer's app.
    case strangersApp
    /// The notification and the transaction in it are about different customers.
    case foreignTransaction

    /// The reason that a verifier must give.
    var reason: VerificationFailureReason {
        switch self {
        case .tampered: .signature
        case .wrongRoot: .chainUntrusted
        case .unsigned: .algorithm
        case .strangersApp: .appUnknown
        case .foreignTransaction: .nestedMismatch
        }
    }

    /// Whether an event has what this variant falsifies.
    func applies(to event: EventPayload) -> Bool { self != .foreignTransaction || event.renewal != nil }
}
