/// Why a transaction was refunded.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/revocationreason>
public struct RevocationReason: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Another reason.
    public static let other = RevocationReason(rawValue: 0)
    /// A problem in the app, real or felt.
    public static let appIssue = RevocationReason(rawValue: 1)

    /// The documented values.
    public static let known: Set<RevocationReason> = [
        .other, .appIssue,
    ]
}
