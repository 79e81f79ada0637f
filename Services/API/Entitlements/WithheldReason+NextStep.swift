import Subscriptions

extension WithheldReason {
    /// A step for the app or its customer; nil where nothing but a purchase helps.
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
