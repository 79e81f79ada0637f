import AppStore
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// What to do when Apple did not give a page.
enum Setback: Equatable {
    /// Begin anew from a time, without the token.
    case restart(from: Date, because: String)
    /// Try again, not before so many seconds have passed.
    case later(seconds: Int64, because: String)
    /// Trying again cannot help.
    case impossible(because: String)

    /// A key that Apple refuses is looked after by somebody; meanwhile the other windows get on.
    private static let keyPause: Int64 = 60
    private static let longestPause: Int64 = 300
    /// Apple lists by the first attempt; near a time the order is not vouched for.
    private static let blur: TimeInterval = 600

    init(_ error: APIError, of claim: WindowClaim, now: Date) {
        let said = error.description
        switch error.code {
        case .paginationTokenExpired, .invalidPaginationToken:
            // From the start, because only a whole list is a proof. If tokens never last to the end, from where it came to.
            let reached = (claim.reachedAt ?? claim.start).addingTimeInterval(-Self.blur)
            let start = claim.restarts < 2 ? claim.start : max(claim.start, reached)
            self = .restart(from: start, because: said)
        case .startDateTooFarInPast:
            let later = claim.start.addingTimeInterval(Horizon.day)
            self = later < claim.scope.to ? .restart(from: later, because: said) : .impossible(because: said)
        default:
            self = Self.other(error, setbacks: claim.setbacks, now: now)
        }
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
