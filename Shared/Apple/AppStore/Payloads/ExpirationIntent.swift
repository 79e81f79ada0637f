/// Why a subscription ended.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/expirationintent>
public struct ExpirationIntent: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The customer turned renewal off.
    public static let canceled = ExpirationIntent(rawValue: 1)
    /// Billing failed.
    public static let billingError = ExpirationIntent(rawValue: 2)
    /// The customer did not agree to a price.
    public static let priceIncreaseNotConsented = ExpirationIntent(rawValue: 3)
    /// The product was no longer sold.
    public static let productUnavailable = ExpirationIntent(rawValue: 4)
    /// Another reason.
    public static let other = ExpirationIntent(rawValue: 5)

    /// The documented values.
    public static let known: Set<ExpirationIntent> = [
        .canceled, .billingError, .priceIncreaseNotConsented, .productUnavailable, .other,
    ]
}
