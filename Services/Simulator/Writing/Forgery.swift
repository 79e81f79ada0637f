/// What is wrong with a forged notification. The raw value is the reason the verifier must give.
enum Forgery: String, Sendable, CaseIterable {
    /// Changed after it was signed.
    case tampered = "signature"
    /// Signed by somebody else's authority, which looks like Apple's.
    case wrongRoot = "chain-untrusted"
    /// `alg` is `none`.
    case unsigned = "algorithm"
    /// Rightly signed, but for another developer's app.
    case strangersApp = "app-unknown"
    /// The envelope and the transaction in it speak of different customers.
    case foreignTransaction = "nested-mismatch"

    /// Whether a notice has what this one falsifies.
    func applies(to notice: Notice) -> Bool { self != .foreignTransaction || notice.renewal != nil }
}
