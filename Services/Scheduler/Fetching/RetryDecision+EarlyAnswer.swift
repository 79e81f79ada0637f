import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

extension RetryDecision {
    /// Seconds, shorter than the pauses that a claim ignores.
    private static let longestWait: TimeInterval = 3600
    /// Seconds by which clocks may differ: a check of failed deliveries begins earlier than the last one ended by more.
    private static let tolerance: TimeInterval = 300
    private static let advice = "a clock was ahead when it was planned: let all machines follow a time service (NTP)"

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
                because: "by Apple's clock this day cannot be compared until \(end); \(Self.advice)")
        case .failures:
            guard claim.scope.to.timeIntervalSince(now) > Self.tolerance else { return nil }
            // The next check begins where this one did, and need not wait until this one's end.
            self = .impossible(because: "by Apple's clock this check ends in the future; \(Self.advice)")
        // No plan advances to their end, or by ingest's heartbeats.
        case .outage, .canary, .manual: return nil
        }
    }
}
