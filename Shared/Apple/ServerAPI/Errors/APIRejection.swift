import StrictJSON

import struct Foundation.Date

/// Apple's answer that it has not done what was asked.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/error-codes>
public struct APIRejection: Sendable, Hashable, CustomStringConvertible {
    /// The longest message that is kept, in characters.
    static let maximumMessageLength = 256

    /// Which call was answered.
    public let endpoint: APIEndpoint
    /// The HTTP status.
    public let status: Int
    /// Apple's number, known to us or not; nil where the body had none, as when something before Apple's servers answers.
    public let code: APIErrorCode?
    /// Apple's words, without what could steer a terminal; empty where there were none.
    public let message: String
    /// Before when Apple does not want to be asked again; nil where it does not say.
    public let retryAfter: Date?

    /// - Parameter body: Any bytes: what is not an error of Apple's leaves code and message empty.
    init(endpoint: APIEndpoint, status: Int, body: [UInt8], retryAfter: Date?) {
        let error = (try? JSONDocument(body)).flatMap { try? APIErrorBody(json: $0.root) }
        self.endpoint = endpoint
        self.status = status
        self.retryAfter = retryAfter
        code = error?.errorCode
        let printable = (error?.errorMessage ?? "").unicodeScalars
            .filter { ![.control, .format].contains($0.properties.generalCategory) }
        message = String(String(String.UnicodeScalarView(printable)).prefix(Self.maximumMessageLength))
    }

    /// Whether the same call may work later: Apple says so, or its servers are not well.
    public var isRetryable: Bool { code?.isRetryable == true || status == 429 || status >= 500 }

    /// Whether Apple does not have what was asked about: an id of another environment or of none. Not so where it is the app that
    /// Apple does not have, or where something before Apple's servers answers 404.
    package var isNotFound: Bool {
        switch code {
        case .accountNotFound, .originalTransactionIdNotFound, .transactionIdNotFound, .invalidTransactionId,
            .invalidOriginalTransactionId:
            true
        default: false
        }
    }

    /// What was answered, and what to do.
    public var description: String {
        var text = "the App Store answered \(endpoint.rawValue) with \(status)"
        if let code { text += ", \(code.rawValue)" }
        if !message.isEmpty { text += " \"\(message)\"" }
        return "\(text): \(advice)"
    }

    private var advice: String {
        if let advice = code?.advice { return advice }
        if isRetryable { return "it may work later; nothing is wrong with the request" }
        if code == nil { return "that is no answer of Apple's API; check the address, and proxies on the way" }
        if let code, code.isOfReport { return "correct what it names; Apple takes nothing of a report with errors" }
        if code?.isKnown == false { return "the code is newer than this build; look it up in Apple's documentation" }
        return "correct the request; the same one will be answered the same"
    }
}
