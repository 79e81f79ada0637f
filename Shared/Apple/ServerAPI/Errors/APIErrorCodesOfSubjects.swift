/// What cannot be done, is not there, or does not work: status 403, 404, 429 and 500.
extension APIErrorCode {
    /// Not active, or for another reason not to be extended.
    public static let subscriptionExtensionIneligible = APIErrorCode(rawValue: 4_030_004)
    /// Extended twice within a year already.
    public static let subscriptionMaxExtension = APIErrorCode(rawValue: 4_030_005)
    /// Only the buyer's subscription can be extended.
    public static let familySharedSubscriptionExtensionIneligible = APIErrorCode(rawValue: 4_030_007)
    /// No such customer.
    public static let accountNotFound = APIErrorCode(rawValue: 4_040_001)
    /// The customer was not found this time; try again.
    public static let accountNotFoundRetryable = APIErrorCode(rawValue: 4_040_002)
    /// No such app.
    public static let appNotFound = APIErrorCode(rawValue: 4_040_003)
    /// The app was not found this time; try again.
    public static let appNotFoundRetryable = APIErrorCode(rawValue: 4_040_004)
    /// No such original transaction in this environment.
    public static let originalTransactionIdNotFound = APIErrorCode(rawValue: 4_040_005)
    /// It was not found this time; try again.
    public static let originalTransactionIdNotFoundRetryable = APIErrorCode(rawValue: 4_040_006)
    /// No address for notifications is entered for this environment.
    public static let serverNotificationURLNotFound = APIErrorCode(rawValue: 4_040_007)
    /// The test notification has not been sent yet, or its token is too old.
    public static let testNotificationNotFound = APIErrorCode(rawValue: 4_040_008)
    /// No mass extension of this name and product.
    public static let statusRequestNotFound = APIErrorCode(rawValue: 4_040_009)
    /// No such transaction in this environment.
    public static let transactionIdNotFound = APIErrorCode(rawValue: 4_040_010)
    /// The customer has no app transaction.
    public static let appTransactionDoesNotExist = APIErrorCode(rawValue: 4_040_019)
    /// No such group of seats.
    public static let groupNotFound = APIErrorCode(rawValue: 4_040_022)
    /// Too many requests.
    public static let rateLimitExceeded = APIErrorCode(rawValue: 4_290_000)
    /// Something at Apple's.
    public static let generalInternal = APIErrorCode(rawValue: 5_000_000)
    /// Something at Apple's that has not happened for good; try again.
    public static let generalInternalRetryable = APIErrorCode(rawValue: 5_000_001)

    static let ofSubjects: Set<APIErrorCode> = [
        .subscriptionExtensionIneligible, .subscriptionMaxExtension, .familySharedSubscriptionExtensionIneligible,
        .accountNotFound, .accountNotFoundRetryable, .appNotFound, .appNotFoundRetryable,
        .originalTransactionIdNotFound, .originalTransactionIdNotFoundRetryable, .serverNotificationURLNotFound,
        .testNotificationNotFound, .statusRequestNotFound, .transactionIdNotFound, .appTransactionDoesNotExist,
        .groupNotFound, .rateLimitExceeded, .generalInternal, .generalInternalRetryable,
    ]
}
