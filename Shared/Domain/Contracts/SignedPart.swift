/// The value of ``VerifiedNotification/notificationType`` where Apple signed an object other than a notification, as
/// its API and the apps deliver them. Lower case, unlike Apple's types.
///
/// Such an object is no event: it says what was the case when it was signed, and is no step of a lifecycle. An app
/// transaction is about no purchase and changes none.
public enum SignedPart: String, Sendable, Hashable, CaseIterable {
    case transaction = "signedTransaction"
    case renewalInfo = "signedRenewalInfo"
    case appTransaction = "signedAppTransaction"
}
