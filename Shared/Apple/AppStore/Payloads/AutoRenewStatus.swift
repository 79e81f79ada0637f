/// Whether the subscription will renew.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/autorenewstatus>
public struct AutoRenewStatus: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// It will end with its period.
    public static let off = AutoRenewStatus(rawValue: 0)
    /// It will renew.
    public static let on = AutoRenewStatus(rawValue: 1)

    /// The documented values.
    public static let known: Set<AutoRenewStatus> = [
        .off, .on,
    ]
}
