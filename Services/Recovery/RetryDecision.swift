import AppStore
import Contracts
import Pipeline

import struct Foundation.Date

/// The result of a request: a history, or a postponement.
enum CustomerHistoryResult: Sendable {
    case answered(CustomerHistory)
    case postponed(RecoveryRequest, Postponement)
}

/// The time until a request is retried, and the reason.
struct Postponement: Sendable, Equatable {
    var length: Duration
    var reason: String

    /// Until an operator adds one.
    static let withoutKey = Postponement(
        length: .seconds(900),
        reason: "no App Store Server API key for this app and environment; add one to "
            + "STOREKEEPER_APP_STORE_API_KEYS_FILE and restart recovery")
}

/// What to do after a failed request to Apple.
enum RetryDecision: Equatable {
    /// - Parameter affectsApp: whether requests for other customers of the app would fail, too.
    case pause(Postponement, affectsApp: Bool)
    /// Retrying cannot help.
    case impossible(CustomerHistoryReason, because: String)

    private static let longest = 300.0

    init(_ error: APIError, now: Date) {
        let said = error.description
        func pause(_ seconds: Double, affectsApp: Bool) -> RetryDecision {
            // The server's clock may be wrong by any amount.
            let length = Duration.seconds(min(Self.longest, max(1, seconds.rounded(.up))))
            return .pause(Postponement(length: length, reason: said), affectsApp: affectsApp)
        }
        switch error {
        case .unreadable: self = .impossible(.unreadable, because: said)
        case .invalidRequest: self = .impossible(.unaskable, because: said)
        case .rateLimited(let until): self = pause(until.timeIntervalSince(now), affectsApp: true)
        // Until the key or the network is repaired.
        case .unauthorized: self = pause(60, affectsApp: true)
        case .unreachable, .unsettled: self = pause(15, affectsApp: true)
        // A proxy answered instead of Apple, or Apple does not know the app yet: this may change.
        case .refused where error.code == nil || error.code == .appNotFound:
            self = pause(Self.longest, affectsApp: true)
        case .refused where error.isRetryable:
            self = pause(error.retryAfter?.timeIntervalSince(now) ?? 1, affectsApp: false)
        case .refused: self = .impossible(.refused, because: said)
        }
    }

    func result(on request: RecoveryRequest) -> StageResult<CustomerHistoryResult, CustomerHistoryReason> {
        switch self {
        case .pause(let pause, _): .forward(.postponed(request, pause))
        case .impossible(let reason, let text): .deadLetter(reason, message: text)
        }
    }
}
