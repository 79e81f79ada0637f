/// Apple's code of an error; its first three digits are the HTTP status.
///
/// Apple documents more of them every year: an unknown one is kept, and its status says what kind it is.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
public struct APIErrorCode: OpenEnumeration {
    /// Apple's number.
    public let rawValue: Int64

    /// Keeps any value.
    public init(rawValue: Int64) { self.rawValue = rawValue }

    /// The documented values.
    public static let known: Set<APIErrorCode> = ofRequests.union(ofSubjects).union(ofMessaging)

    /// Whether Apple documents that the same call may succeed later.
    public var isRetryable: Bool { Self.retryable.contains(self) }

    private static let retryable: Set<APIErrorCode> = [
        .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
        .generalInternalRetryable, .rateLimitExceeded,
    ]
}
