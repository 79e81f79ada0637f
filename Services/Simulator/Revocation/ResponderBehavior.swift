/// How the responder behaves.
enum ResponderBehavior: String, CaseIterable, Sendable {
    /// As it should.
    case honest
    /// Knows no certificate.
    case ignorant
    /// Sends answers whose validity is over.
    case expired
    /// Signs with a key that nobody appointed.
    case impostor
    /// Leaves the nonce out, as responders do that sign beforehand.
    case forgetful
    /// Says that it is busy.
    case busy
    /// Sends the caller elsewhere.
    case redirecting
    /// Sends more than anybody wants to read.
    case endless
    /// Answers what is no answer.
    case babbling
}
