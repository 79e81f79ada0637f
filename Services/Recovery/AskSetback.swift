import AppStore
import Contracts
import Pipeline

import struct Foundation.Date

/// What a request came to, where there is an answer or will be one.
enum Asked: Sendable {
    case answered(Findings)
    case postponed(RecoveryRequest, Pause)
}

/// Until Apple is asked again, and why.
struct Pause: Sendable, Equatable {
    var length: Duration
    var reason: String

    /// Somebody has to add one.
    static let withoutKey = Pause(
        length: .seconds(900),
        reason: "there is no key for this app and environment; add one to STOREKEEPER_API_KEYS_FILE and restart "
            + "recovery")
}

/// What to do where Apple did not answer.
enum AskSetback: Equatable {
    /// - Parameter isOfApp: whether no other customer of the app would be answered either.
    case pause(Pause, isOfApp: Bool)
    /// Asking again cannot help.
    case impossible(AskReason, because: String)

    private static let longest = 300.0

    init(_ error: APIError, now: Date) {
        let said = error.description
        func pause(_ seconds: Double, isOfApp: Bool) -> AskSetback {
            // A server's clock may be wrong by any amount.
            let length = Duration.seconds(min(Self.longest, max(1, seconds.rounded(.up))))
            return .pause(Pause(length: length, reason: said), isOfApp: isOfApp)
        }
        switch error {
        case .unreadable: self = .impossible(.unreadable, because: said)
        case .invalidRequest: self = .impossible(.unaskable, because: said)
        case .rateLimited(let until): self = pause(until.timeIntervalSince(now), isOfApp: true)
        // Somebody looks after a key, and after a network.
        case .unauthorized: self = pause(60, isOfApp: true)
        case .unreachable, .unsettled: self = pause(15, isOfApp: true)
        // Somebody between us and Apple answered, or the app is not known there yet: it may be mended any time.
        case .refused where error.code == nil || error.code == .appNotFound:
            self = pause(Self.longest, isOfApp: true)
        case .refused where error.isRetryable:
            self = pause(error.retryAfter?.timeIntervalSince(now) ?? 1, isOfApp: false)
        case .refused: self = .impossible(.refused, because: said)
        }
    }

    func result(on request: RecoveryRequest) -> StageResult<Asked, AskReason> {
        switch self {
        case .pause(let pause, _): .forward(.postponed(request, pause))
        case .impossible(let reason, let text): .deadLetter(reason, message: text)
        }
    }
}
