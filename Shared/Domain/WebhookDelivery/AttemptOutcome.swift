import struct Foundation.Date

/// What one request to a receiver came to.
package enum AttemptOutcome: Sendable, Equatable {
    /// 2xx within the time.
    case delivered(status: Int16)
    /// 410.
    case gone
    /// 429 or 503 with Retry-After, in seconds.
    case throttled(status: Int16, seconds: Double)
    /// Everything else, without an answer too: it is retried.
    case failed(status: Int16?, fault: String)
    /// No request was made: the notification was erased, or retention has dropped it.
    case erased
    /// No request was made: the stored notification is damaged. The fault is a clause.
    case unreadable(fault: String)

    /// What an answer means.
    /// - Parameters:
    ///   - retryAfter: the header; nil where there is none.
    ///   - now: for a header that is a date.
    package init(status: Int, retryAfter: String?, now: Date) {
        let code = Int16(clamping: status)
        switch status {
        case 200...299: self = .delivered(status: code)
        case 410: self = .gone
        case 429, 503:
            guard let seconds = retryAfter.flatMap({ RetryAfter.seconds($0, now: now) }) else { fallthrough }
            self = .throttled(status: code, seconds: seconds)
        default:
            let hint = 300...399 ~= status ? ", which is not followed: change the endpoint's URL" : ""
            self = .failed(status: code, fault: "answered \(status)\(hint)")
        }
    }

    /// Nil without an answer.
    package var status: Int16? {
        switch self {
        case .delivered(let status), .throttled(let status, _): status
        case .gone: 410
        case .failed(let status, _): status
        case .erased, .unreadable: nil
        }
    }

    /// True where the receiver was asked, so that its answer, or that there was none, says something about it.
    package var isOfReceiver: Bool {
        switch self {
        case .delivered, .gone, .throttled, .failed: true
        case .erased, .unreadable: false
        }
    }

    /// What went wrong, a clause; nil where nothing did.
    package var fault: String? {
        switch self {
        case .delivered: nil
        case .gone: "answered 410: the receiver wants no more webhooks"
        case .throttled(let status, let seconds): "answered \(status): asks for \(Int(seconds.rounded(.up))) s of pause"
        case .failed(_, let fault): fault
        case .erased: "the notification was erased"
        case .unreadable(let fault): "the stored notification cannot be read: \(fault)"
        }
    }
}
