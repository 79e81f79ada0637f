import struct Foundation.Date

/// What came back over HTTP.
struct APIAnswer: Sendable {
    let status: Int
    let body: [UInt8]
    /// When the server says that it answered; nil where it does not say.
    let serverDate: Date?
    /// As the server wrote it.
    let retryAfter: String?
}

/// What became of one attempt.
enum APIOutcome: Sendable {
    /// Any status at all.
    case answered(APIAnswer)
    /// No complete answer. `wasSent` is false only where the server certainly does not have the request.
    case unanswered(String, wasSent: Bool)
    /// The status, but more behind it than anything that Apple answers.
    case oversized(status: Int, limit: Int)
}
