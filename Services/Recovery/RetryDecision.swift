import Contracts
import Pipeline

import ServerAPI
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
            + "STOREKEEPER_APP_STORE_API_KEYS_FILE, which recovery reloads")
}

/// What to do after a failed request to Apple.
enum RetryDecision: Equatable {
    /// - Parameter affectsApp: whether requests for other customers of the app would fail, too.
    case pause(Postponement, affectsApp: Bool)
    /// Retrying cannot help.
    case impossible(CustomerHistoryReason, because: String)

    init(_ error: APIError, now: Date) {
        let said = error.description
        if case .unreadable = error {
            self = .impossible(.unreadable, because: said)
        } else if let pause = RetryPause(after: error, now: now) {
            self = .pause(
                Postponement(length: .seconds(pause.seconds), reason: said), affectsApp: pause.affectsApp)
        } else if case .invalidRequest = error {
            self = .impossible(.unaskable, because: said)
        } else {
            self = .impossible(.rejected, because: said)
        }
    }

    func result(on request: RecoveryRequest) -> StageResult<CustomerHistoryResult, CustomerHistoryReason> {
        switch self {
        case .pause(let pause, _): .forward(.postponed(request, pause))
        case .impossible(let reason, let text): .deadLetter(reason, message: text)
        }
    }
}
