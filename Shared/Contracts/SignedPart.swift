/// What stands in ``VerifiedNotification/notificationType`` where Apple signed no notification but one part by itself, as
/// its API and the apps hand them out. Lower case, which no word of Apple's is.
///
/// Nothing happened when such a part came: it tells how things stood when it was signed, and is no step of a life. An app
/// transaction is about no purchase at all and changes none.
public enum SignedPart: String, Sendable, Hashable, CaseIterable {
    case transaction = "signedTransaction"
    case renewalInfo = "signedRenewalInfo"
    case appTransaction = "signedAppTransaction"
}
