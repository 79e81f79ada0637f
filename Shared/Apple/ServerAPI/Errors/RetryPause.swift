import struct Foundation.Date
import func Foundation.pow

/// How long to wait before a request that failed is repeated.
public struct RetryPause: Sendable, Equatable {
    /// Whole seconds, at least 1 and at most ``longest``.
    public var seconds: Int64
    /// Whether requests about other customers of the app would fail, too.
    public var affectsApp: Bool

    /// Five minutes. The server's clock may be wrong by any amount, so what it asks for is limited as well.
    public static let longest: Int64 = 300

    /// - Parameters:
    ///   - failures: of this request in succession, by which the pause doubles; nil where they are not counted.
    ///   - now: what dates in the answer are compared with.
    /// - Returns: nil where repeating the request cannot help.
    public init?(after error: APIError, failures: Int? = nil, now: Date) {
        let backoff = failures.map { pow(2, Double(min(max(0, $0), 20))) }
        switch error {
        case .invalidRequest: return nil
        // Until the key or the network is repaired.
        case .unauthorized: self.init(60, affectsApp: true)
        case .rateLimited(let until): self.init(until.timeIntervalSince(now), affectsApp: true)
        // A gateway, Apple's or one on the way, that reaches nothing behind it.
        case .rejected where error.code == nil && error.isRetryable:
            self.init(max(error.retryAfter?.timeIntervalSince(now) ?? 1, backoff ?? 15), affectsApp: true)
        // A proxy answered instead of Apple, or Apple does not know the app yet: this may change.
        case .rejected where error.code == nil || error.code == .appNotFound:
            self.init(Double(Self.longest), affectsApp: true)
        case .rejected where error.isRetryable:
            self.init(max(error.retryAfter?.timeIntervalSince(now) ?? 1, backoff ?? 1), affectsApp: false)
        case .rejected: return nil
        case .unreachable, .unsettled, .unreadable: self.init(backoff ?? 15, affectsApp: true)
        }
    }

    private init(_ seconds: Double, affectsApp: Bool) {
        self.seconds = Int64(min(Double(Self.longest), max(1, seconds.rounded(.up))))
        self.affectsApp = affectsApp
    }
}
