import ServerAPI
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import func Foundation.pow

/// What to do after Apple did not return a page.
enum RetryDecision: Equatable {
    /// Restart from a time without the token, after a pause in seconds. Cut: what is before it stays unfetched.
    case restart(from: Date, pause: Int64 = 0, isCut: Bool = false, because: String)
    /// Retry after a pause in seconds.
    case later(seconds: Int64, because: String)
    /// Retrying cannot help.
    case impossible(because: String)

    /// Apple lists by first attempt and does not guarantee the order of close ones.
    private static let blur: TimeInterval = 600
    /// Retries of an unexplained bad request, and of an answer that cannot be read.
    private static let patience = 3
    /// Restarts from the window's start before restarting from the last page.
    private static let whole = 2

    init(_ error: APIError, of claim: WindowClaim, now: Date) {
        let said = error.description
        switch error.code {
        case .paginationTokenExpired, .invalidPaginationToken:
            self = Self.restarted(claim, because: said)
        case .startDateTooFarInPast:
            let later = claim.start.addingTimeInterval(HistoryRetention.day)
            self =
                later < claim.scope.to ? .restart(from: later, isCut: true, because: said) : .impossible(because: said)
        default:
            // A token that led nowhere so often, to itself for one, would lead nowhere for ever.
            if case .unreadable = error, claim.pageToken != nil, claim.failures >= Self.patience {
                self = Self.restarted(claim, because: said)
            } else {
                self = Self.other(error, failures: claim.failures, now: now)
            }
        }
    }

    /// Restarts from the start, because only a complete list is proof. Where tokens keep expiring before the end,
    /// restarts a little before the last page, and closer each time, so that even single first pages make progress.
    private static func restarted(_ claim: WindowClaim, because said: String) -> RetryDecision {
        let shrinking = blur / pow(4, Double(max(0, claim.restarts - whole)))
        let reached = (claim.reachedAt ?? claim.start).addingTimeInterval(shrinking < 1 ? 0 : -shrinking)
        let start = claim.restarts < whole ? claim.start : max(claim.start, reached)
        // Without progress, back off: the same pages must not be requested in a tight loop.
        let pause = start > claim.start ? 1 : min(RetryPause.longest, Int64(1) << min(Int64(claim.restarts), 20) - 1)
        return .restart(from: start, pause: pause, because: said)
    }

    private static func other(_ error: APIError, failures: Int, now: Date) -> RetryDecision {
        // Apple also returns this for temporary problems.
        if error.code == .generalBadRequest, failures < patience {
            return .later(seconds: RetryPause.longest, because: error.description)
        }
        guard let pause = RetryPause(after: error, failures: failures, now: now) else {
            return .impossible(because: error.description)
        }
        return .later(seconds: pause.seconds, because: error.description)
    }
}
