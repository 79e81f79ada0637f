import AppStore

/// What we should like Apple to do about a request for a refund.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/refundpreference>
public struct RefundPreference: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Give nothing back.
    public static let decline = RefundPreference(rawValue: "DECLINE")
    /// Give everything back.
    public static let grantFull = RefundPreference(rawValue: "GRANT_FULL")
    /// Give back what has not been used.
    public static let grantProrated = RefundPreference(rawValue: "GRANT_PRORATED")

    /// The documented values.
    public static let known: Set<RefundPreference> = [
        .decline, .grantFull, .grantProrated,
    ]
}
