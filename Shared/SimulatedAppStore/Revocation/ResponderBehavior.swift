/// How the responder behaves.
enum ResponderBehavior: String, CaseIterable, Sendable {
    /// Answers correctly.
    case honest
    /// Knows no certificate.
    case ignorant
    /// Sends answers whose validity is over.
    case expired
    /// Signs with a key that the authority did not delegate to.
    case impostor
    /// Leaves out the nonce, like responders that sign in advance.
    case forgetful
    /// Answers tryLater.
    case busy
    /// Redirects to another address.
    case redirecting
    /// Sends an oversized answer.
    case endless
    /// Sends bytes that are no OCSP answer.
    case babbling
}
