import AppStore
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval
import func Foundation.pow

/// What to do when Apple did not give a page.
enum Setback: Equatable {
    /// Begin anew from a time, without the token, not before so many seconds have passed.
    case restart(from: Date, pause: Int64 = 0, because: String)
    /// Try again, not before so many seconds have passed.
    case later(seconds: Int64, because: String)
    /// Trying again cannot help.
    case impossible(because: String)

    /// A key that Apple refuses is looked after by somebody; meanwhile the other windows get on.
    private static let keyPause: Int64 = 60
    private static let longestPause: Int64 = 300
    /// Apple lists by the first attempt; near a time the order is not vouched for.
    private static let blur: TimeInterval = 600
    /// So often what Apple calls a bad request without saying why is asked again.
    private static let patience = 3
    /// So often a window begins from its start before it begins where it was.
    private static let whole = 2

    init(_ error: APIError, of claim: WindowClaim, now: Date) {
        let said = error.description
        switch error.code {
        case .paginationTokenExpired, .invalidPaginationToken:
            self = Self.anew(claim, because: said)
        case .startDateTooFarInPast:
            let later = claim.start.addingTimeInterval(Horizon.day)
            self = later < claim.scope.to ? .restart(from: later, because: said) : .impossible(because: said)
        default:
            self = Self.other(error, setbacks: claim.setbacks, now: now)
        }
    }

    /// From the start, because only a whole list is a proof. If tokens never last to the end, from a little before where it
    /// came to, and from less and less before that: even where no second page can be had, each first one leads on.
    private static func anew(_ claim: WindowClaim, because said: String) -> Setback {
        let shrinking = blur / pow(4, Double(max(0, claim.restarts - whole)))
        let reached = (claim.reachedAt ?? claim.start).addingTimeInterval(shrinking < 1 ? 0 : -shrinking)
        let start = claim.restarts < whole ? claim.start : max(claim.start, reached)
        // Who gains nothing by it must not ask Apple for the same pages as fast as it answers.
        let pause = start > claim.start ? 1 : min(longestPause, Int64(1) << min(Int64(claim.restarts), 20) - 1)
        return .restart(from: start, pause: pause, because: said)
    }

    private static func other(_ error: APIError, setbacks: Int, now: Date) -> Setback {
        switch error {
        case .unauthorized(let text):
            return .later(seconds: keyPause, because: text)
        case .rateLimited(let until):
            return .later(seconds: seconds(to: until, from: now), because: error.description)
        case .invalidRequest(let text):
            return .impossible(because: text)
        // Somebody between us and Apple answered, or the app is not known there yet: it may be mended any time.
        case .refused where error.code == nil || error.code == .appNotFound:
            return .later(seconds: longestPause, because: error.description)
        // Apple says it of passing trouble too.
        case .refused where error.code == .generalBadRequest && setbacks < patience:
            return .later(seconds: longestPause, because: error.description)
        case .refused where !error.isRetryable:
            return .impossible(because: error.description)
        case .refused, .unreachable, .unsettled, .unreadable:
            let doubled = Int64(1) << min(Int64(max(0, setbacks)), 20)
            let asked = error.retryAfter.map { seconds(to: $0, from: now) } ?? 0
            return .later(seconds: min(longestPause, max(asked, doubled)), because: error.description)
        }
    }

    /// An answer's clock may be wrong by any amount.
    private static func seconds(to date: Date, from now: Date) -> Int64 {
        Int64(min(Double(longestPause), max(1, date.timeIntervalSince(now).rounded(.up))))
    }
}
