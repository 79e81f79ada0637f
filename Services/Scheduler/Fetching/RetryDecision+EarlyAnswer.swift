import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

extension RetryDecision {
    /// Seconds, shorter than the pauses that a claim ignores.
    private static let longestWait: TimeInterval = 3600

    /// A decision about a window that is not over by Apple's clock, because it was planned by one that was ahead: Apple
    /// takes an end in the future for now, so that what it lists later would be left out.
    ///
    /// - Parameters:
    ///   - delay: seconds from the end of a day until Apple has recorded its last attempts.
    ///   - now: not ahead of Apple's clock.
    /// - Returns: nil where the answer counts.
    init?(afterEarlyAnswerFor claim: WindowClaim, sweepDelay delay: TimeInterval, now: Date) {
        switch claim.reason {
        case .sweep:
            let end = claim.scope.to.addingTimeInterval(delay)
            guard end > now else { return nil }
            self = .later(
                seconds: Int64(min(end.timeIntervalSince(now).rounded(.up), Self.longestWait)),
                because:
                    "by Apple's clock this day cannot be compared until \(end); a clock was ahead when it was planned: "
                    + "let all machines follow a time service (NTP)")
        case .failures, .outage, .canary, .manual: return nil
        }
    }
}
