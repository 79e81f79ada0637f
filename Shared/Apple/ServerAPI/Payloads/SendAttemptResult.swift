import AppStore

/// What became of one attempt of Apple's to reach us.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/sendattemptresult>
public struct SendAttemptResult: OpenEnumeration {
    /// Apple's spelling.
    public let rawValue: String

    /// Keeps any value.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// We answered that we have it.
    public static let success = SendAttemptResult(rawValue: "SUCCESS")
    /// We did not answer in time.
    public static let timedOut = SendAttemptResult(rawValue: "TIMED_OUT")
    /// Our certificate, or our version of TLS, was not accepted.
    public static let tlsIssue = SendAttemptResult(rawValue: "TLS_ISSUE")
    /// We redirected in a circle.
    public static let circularRedirect = SendAttemptResult(rawValue: "CIRCULAR_REDIRECT")
    /// We accepted the connection and answered nothing.
    public static let noResponse = SendAttemptResult(rawValue: "NO_RESPONSE")
    /// The connection could not be made, or broke.
    public static let socketIssue = SendAttemptResult(rawValue: "SOCKET_ISSUE")
    /// Our answer named a character set that Apple does not have.
    public static let unsupportedCharset = SendAttemptResult(rawValue: "UNSUPPORTED_CHARSET")
    /// What we answered was not HTTP.
    public static let invalidResponse = SendAttemptResult(rawValue: "INVALID_RESPONSE")
    /// We closed the connection before Apple had sent everything.
    public static let prematureClose = SendAttemptResult(rawValue: "PREMATURE_CLOSE")
    /// We answered with a status that means no.
    public static let unsuccessfulResponseCode = SendAttemptResult(rawValue: "UNSUCCESSFUL_HTTP_RESPONSE_CODE")
    /// Another reason.
    public static let other = SendAttemptResult(rawValue: "OTHER")
    /// The former name of `tlsIssue`; old notifications still have it.
    public static let sslIssue = SendAttemptResult(rawValue: "SSL_ISSUE")

    /// The documented values.
    public static let known: Set<SendAttemptResult> = [
        .success, .timedOut, .tlsIssue, .circularRedirect, .noResponse, .socketIssue, .unsupportedCharset,
        .invalidResponse, .prematureClose, .unsuccessfulResponseCode, .other, .sslIssue,
    ]
}
