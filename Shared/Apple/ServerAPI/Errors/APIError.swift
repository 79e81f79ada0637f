import Foundation

/// Why a call to the App Store Server API has no result.
///
/// No text of it holds a token, a key or anything signed.
public enum APIError: Error, Sendable, Hashable, CustomStringConvertible {
    /// Apple answered that it has not done it; tried again already where that may help.
    case rejected(APIRejection)
    /// 401 with every key: the text names the keys and what to check. Apple does not say why.
    case unauthorized(String)
    /// Too many requests, and it is longer until the next one may be sent than the call may take.
    case rateLimited(until: Date)
    /// There was no answer; asking again does no harm, and was tried.
    case unreachable(String)
    /// There was no answer that says whether Apple did it, and asking again could do it twice: only the extensions of
    /// renewal dates. The text says how to find out.
    case unsettled(String)
    /// There was an answer of success that is not what Apple documents, or longer than the limit.
    case unreadable(String)
    /// It was not sent, because it could not be answered.
    case invalidRequest(String)

    /// Apple's answer; nil where there was none.
    public var status: Int? {
        switch self {
        case .rejected(let rejection): rejection.status
        case .unauthorized: 401
        case .rateLimited: 429
        case .unreachable, .unsettled, .unreadable, .invalidRequest: nil
        }
    }

    /// Apple's number of what is wrong, known to us or not.
    public var code: APIErrorCode? {
        switch self {
        case .rejected(let rejection): rejection.code
        case .rateLimited: .rateLimitExceeded
        case .unauthorized, .unreachable, .unsettled, .unreadable, .invalidRequest: nil
        }
    }

    /// Whether a retry may succeed. False where it could take effect twice.
    public var isRetryable: Bool {
        switch self {
        case .rejected(let rejection): rejection.isRetryable
        case .rateLimited, .unreachable: true
        case .unauthorized, .unsettled, .unreadable, .invalidRequest: false
        }
    }

    /// Earliest time of a retry; nil where the response has none.
    public var retryAfter: Date? {
        switch self {
        case .rejected(let rejection): rejection.retryAfter
        case .rateLimited(let until): until
        case .unauthorized, .unreachable, .unsettled, .unreadable, .invalidRequest: nil
        }
    }

    /// What happened and what to do.
    public var description: String {
        switch self {
        case .rejected(let rejection): rejection.description
        case .rateLimited(let until):
            "the limit of the App Store Server API is used up until "
                + "\(until.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))); try again then"
        case .unauthorized(let text), .unreachable(let text), .unsettled(let text), .unreadable(let text),
            .invalidRequest(let text):
            text
        }
    }
}
