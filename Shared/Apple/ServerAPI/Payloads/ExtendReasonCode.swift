import AppStore

/// Why a renewal date is extended.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/extendreasoncode>
public struct ExtendReasonCode: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// Not said.
    public static let undeclared = ExtendReasonCode(rawValue: 0)
    /// To please the customer.
    public static let customerSatisfaction = ExtendReasonCode(rawValue: 1)
    /// Another reason.
    public static let other = ExtendReasonCode(rawValue: 2)
    /// The service did not work.
    public static let serviceIssueOrOutage = ExtendReasonCode(rawValue: 3)

    /// The documented values.
    public static let known: Set<ExtendReasonCode> = [
        .undeclared, .customerSatisfaction, .other, .serviceIssueOrOutage,
    ]
}
