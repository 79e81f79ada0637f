import Synchronization

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Apple's time, from the header Date of its latest answer, carried on by a clock that never jumps: this machine's calendar
/// can be compared with it at any moment, and once it is set right the difference is gone without another answer.
public final class AppleTime: Sendable {
    /// Apple's time when an answer had come lies in a range, in seconds since 1970.
    private struct Answer {
        var moments: ClosedRange<TimeInterval>
        var at: Duration
    }

    /// Seconds for which an answer counts. A machine that was paused carries time on too slowly.
    private static let age: TimeInterval = 86_400
    /// Seconds for which the first answer is awaited.
    private static let patience: TimeInterval = 3600

    private let last = Mutex<Answer?>(nil)
    private let elapsed: @Sendable () -> Duration
    private let start: Duration

    /// - Parameter elapsed: The clock that never jumps.
    public init(elapsed: @escaping @Sendable () -> Duration) {
        self.elapsed = elapsed
        start = elapsed()
    }

    /// True while the first answer has not come and is worth waiting for: for an hour, because Apple may not be reachable, or may
    /// not be asked at all.
    public var isAwaited: Bool {
        last.withLock { $0 == nil } && (elapsed() - start) / .seconds(1) < Self.patience
    }

    /// An answer has just come.
    ///
    /// - Parameters:
    ///   - date: Apple's, in whole seconds.
    ///   - duration: Since the request was sent.
    public func answered(_ date: Date, after duration: Duration) {
        let begin = date.timeIntervalSince1970
        // The header has no fractions, and the answer may have been on its way all the time.
        let moments = begin...(begin + 1 + max(0, duration / .seconds(1)))
        last.withLock { $0 = Answer(moments: moments, at: elapsed()) }
    }

    /// Seconds by which Apple's time is at least ahead of a calendar's; negative where it is behind. Nil without an answer of the last day.
    ///
    /// - Parameter now: What the calendar shows.
    public func difference(from now: Date) -> TimeInterval? {
        guard let answer = last.withLock(\.self) else { return nil }
        let passed = (elapsed() - answer.at) / .seconds(1)
        guard passed < Self.age else { return nil }
        let moment = now.timeIntervalSince1970 - passed
        if moment < answer.moments.lowerBound { return answer.moments.lowerBound - moment }
        return min(0, answer.moments.upperBound - moment)
    }

    /// A moment set back by as much as a calendar is known to be ahead of Apple's time.
    ///
    /// For what is asked of Apple, which takes an end in the future for now: what has not happened yet would count as
    /// asked about, and an answer as newer than what Apple says after it.
    ///
    /// - Parameter calendar: what the calendar shows, which the moment may be moved from.
    public func setBack(_ moment: Date, by calendar: Date) -> Date {
        moment.addingTimeInterval(min(0, difference(from: calendar) ?? 0))
    }
}
