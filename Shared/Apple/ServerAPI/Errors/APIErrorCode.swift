import AppStore

/// Apple's code of an error; its first three digits are the HTTP status. Errors of a report about external purchases have small numbers.
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
        .union(ofAdvancedCommerce).union(ofInAppRequests)

    /// Whether Apple documents that the same call may succeed later.
    public var isRetryable: Bool { Self.retryable.contains(self) }

    /// Whether it is of a report about an external purchase: those are numbered from 1.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/sendreporterrorresponse>
    var isOfReport: Bool { (1..<1000).contains(rawValue) }

    private static let retryable: Set<APIErrorCode> = [
        .accountNotFoundRetryable, .appNotFoundRetryable, .originalTransactionIdNotFoundRetryable,
        .generalInternalRetryable, .rateLimitExceeded,
    ]
}
