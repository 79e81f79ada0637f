/// What is wrong with a request: status 400.
extension APIErrorCode {
    /// Something, and Apple does not say what.
    public static let generalBadRequest = APIErrorCode(rawValue: 4_000_000)
    /// The app of the token is not one.
    public static let invalidAppIdentifier = APIErrorCode(rawValue: 4_000_002)
    /// How many are wanted on a page.
    public static let invalidLimit = APIErrorCode(rawValue: 4_000_004)
    /// The revision to go on from is not one of this query.
    public static let invalidRequestRevision = APIErrorCode(rawValue: 4_000_005)
    /// The transaction id is not one.
    public static let invalidTransactionId = APIErrorCode(rawValue: 4_000_006)
    /// The original transaction id is not one.
    public static let invalidOriginalTransactionId = APIErrorCode(rawValue: 4_000_008)
    /// An extension is 1 to 90 days.
    public static let invalidExtendByDays = APIErrorCode(rawValue: 4_000_009)
    /// The reason of an extension is 0 to 3.
    public static let invalidExtendReasonCode = APIErrorCode(rawValue: 4_000_010)
    /// The name of the request is missing or too long.
    public static let invalidRequestIdentifier = APIErrorCode(rawValue: 4_000_011)
    /// History goes back 180 days, in sandbox 30.
    public static let startDateTooFarInPast = APIErrorCode(rawValue: 4_000_012)
    /// The window ends before it begins.
    public static let startDateAfterEndDate = APIErrorCode(rawValue: 4_000_013)
    /// The token is not one of this query: follow-ups repeat the same body.
    public static let invalidPaginationToken = APIErrorCode(rawValue: 4_000_014)
    /// The window's beginning is not a time.
    public static let invalidStartDate = APIErrorCode(rawValue: 4_000_015)
    /// The window's end is not a time.
    public static let invalidEndDate = APIErrorCode(rawValue: 4_000_016)
    /// The query must be restarted.
    public static let paginationTokenExpired = APIErrorCode(rawValue: 4_000_017)
    /// No such type, or no such subtype of it.
    public static let invalidNotificationType = APIErrorCode(rawValue: 4_000_018)
    /// By type or by transaction, not both.
    public static let multipleFiltersSupplied = APIErrorCode(rawValue: 4_000_019)
    /// The token of a test notification is not one.
    public static let invalidTestNotificationToken = APIErrorCode(rawValue: 4_000_020)
    /// Neither ASCENDING nor DESCENDING.
    public static let invalidSort = APIErrorCode(rawValue: 4_000_021)
    /// No such product type.
    public static let invalidProductType = APIErrorCode(rawValue: 4_000_022)
    /// No such product.
    public static let invalidProductId = APIErrorCode(rawValue: 4_000_023)
    /// No such subscription group.
    public static let invalidSubscriptionGroupIdentifier = APIErrorCode(rawValue: 4_000_024)
    /// A former filter, neither true nor false.
    public static let invalidExcludeRevoked = APIErrorCode(rawValue: 4_000_025)
    /// Neither FAMILY_SHARED nor PURCHASED.
    public static let invalidInAppOwnershipType = APIErrorCode(rawValue: 4_000_026)
    /// Leave the countries out instead of naming none.
    public static let invalidEmptyStorefrontCountryCodeList = APIErrorCode(rawValue: 4_000_027)
    /// Not a country with a storefront, as three letters.
    public static let invalidStorefrontCountryCode = APIErrorCode(rawValue: 4_000_028)
    /// Neither true nor false.
    public static let invalidRevoked = APIErrorCode(rawValue: 4_000_030)
    /// A subscription's status is 1 to 5.
    public static let invalidStatus = APIErrorCode(rawValue: 4_000_031)
    /// Consumption information of version 1.
    public static let invalidAccountTenure = APIErrorCode(rawValue: 4_000_032)
    /// The account token is not a UUID.
    public static let invalidAppAccountToken = APIErrorCode(rawValue: 4_000_033)
    /// Consumption information of version 1.
    public static let invalidConsumptionStatus = APIErrorCode(rawValue: 4_000_034)
    /// The customer has to have consented.
    public static let invalidCustomerConsented = APIErrorCode(rawValue: 4_000_035)
    /// No such delivery status.
    public static let invalidDeliveryStatus = APIErrorCode(rawValue: 4_000_036)
    /// Consumption information of version 1.
    public static let invalidLifetimeDollarsPurchased = APIErrorCode(rawValue: 4_000_037)
    /// Consumption information of version 1.
    public static let invalidLifetimeDollarsRefunded = APIErrorCode(rawValue: 4_000_038)
    /// Consumption information of version 1.
    public static let invalidPlatform = APIErrorCode(rawValue: 4_000_039)
    /// Consumption information of version 1.
    public static let invalidPlayTime = APIErrorCode(rawValue: 4_000_040)
    /// Neither true nor false.
    public static let invalidSampleContentProvided = APIErrorCode(rawValue: 4_000_041)
    /// Consumption information of version 1.
    public static let invalidUserStatus = APIErrorCode(rawValue: 4_000_042)
    /// Consumption information of version 1 is about consumables only.
    public static let invalidTransactionNotConsumable = APIErrorCode(rawValue: 4_000_043)
    /// No such preference.
    public static let invalidRefundPreference = APIErrorCode(rawValue: 4_000_044)
    /// Not for this kind of product.
    public static let invalidTransactionTypeNotSupported = APIErrorCode(rawValue: 4_000_047)
    /// An app transaction id where a transaction id belongs.
    public static let appTransactionIdNotSupported = APIErrorCode(rawValue: 4_000_048)
    /// The account token is not a UUID.
    public static let invalidAppAccountTokenUUID = APIErrorCode(rawValue: 4_000_183)
    /// Not for what a family member bought.
    public static let familyTransactionNotSupported = APIErrorCode(rawValue: 4_000_185)
    /// The transaction is a renewal; name the original one.
    public static let transactionIdNotOriginalTransactionId = APIErrorCode(rawValue: 4_000_187)
    /// A subscription was given a consumptionPercentage.
    public static let consumptionPercentageOfSubscription = APIErrorCode(rawValue: 4_000_209)
    /// No such group of seats.
    public static let invalidGroupId = APIErrorCode(rawValue: 4_000_225)
    /// Not for a seat that another customer bought.
    public static let invalidAssignedTransactionNotSupported = APIErrorCode(rawValue: 4_000_227)

    static let ofRequests: Set<APIErrorCode> = [
        .generalBadRequest, .invalidAppIdentifier, .invalidLimit, .invalidRequestRevision, .invalidTransactionId,
        .invalidOriginalTransactionId, .invalidExtendByDays, .invalidExtendReasonCode, .invalidRequestIdentifier,
        .startDateTooFarInPast, .startDateAfterEndDate, .invalidPaginationToken, .invalidStartDate, .invalidEndDate,
        .paginationTokenExpired, .invalidNotificationType, .multipleFiltersSupplied, .invalidTestNotificationToken,
        .invalidSort, .invalidProductType, .invalidProductId, .invalidSubscriptionGroupIdentifier,
        .invalidExcludeRevoked, .invalidInAppOwnershipType, .invalidEmptyStorefrontCountryCodeList,
        .invalidStorefrontCountryCode, .invalidRevoked, .invalidStatus, .invalidAccountTenure,
        .invalidAppAccountToken, .invalidConsumptionStatus, .invalidCustomerConsented, .invalidDeliveryStatus,
        .invalidLifetimeDollarsPurchased, .invalidLifetimeDollarsRefunded, .invalidPlatform, .invalidPlayTime,
        .invalidSampleContentProvided, .invalidUserStatus, .invalidTransactionNotConsumable,
        .invalidRefundPreference, .invalidTransactionTypeNotSupported, .appTransactionIdNotSupported,
        .invalidAppAccountTokenUUID, .familyTransactionNotSupported, .transactionIdNotOriginalTransactionId,
        .consumptionPercentageOfSubscription, .invalidGroupId, .invalidAssignedTransactionNotSupported,
    ]
}
