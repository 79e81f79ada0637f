/// What a revocation takes back.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/revocationtype>
public struct RevocationType: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The whole price.
    public static let refundFull = RevocationType(rawValue: "REFUND_FULL")
    /// A part of the price.
    public static let refundProrated = RevocationType(rawValue: "REFUND_PRORATED")
    /// Family access, no money.
    public static let familyRevoke = RevocationType(rawValue: "FAMILY_REVOKE")
    /// An assigned seat, no money.
    public static let assignmentRevoke = RevocationType(rawValue: "ASSIGNMENT_REVOKE")

    /// The documented values.
    public static let known: Set<RevocationType> = [
        .refundFull, .refundProrated, .familyRevoke, .assignmentRevoke,
    ]
}
