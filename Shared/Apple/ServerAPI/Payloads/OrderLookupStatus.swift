import AppStore

/// Whether the App Store knows an order number for this app.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/orderlookupstatus>
public struct OrderLookupStatus: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// It does; the transactions of the order come with it.
    public static let valid = OrderLookupStatus(rawValue: 0)
    /// It does not: mistyped, or of another app.
    public static let invalid = OrderLookupStatus(rawValue: 1)

    /// The documented values.
    public static let known: Set<OrderLookupStatus> = [
        .valid, .invalid,
    ]
}
