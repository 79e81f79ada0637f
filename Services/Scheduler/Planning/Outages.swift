import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Times without heartbeats of ingest, and times in which it answered 503.
struct Outages: Equatable {
    /// A time in which notifications may have been lost or delayed.
    struct Outage: Equatable {
        var from: Date
        var to: Date
        /// False for 503 answers only: Apple lists those as failures, and nothing else can be missing.
        var isSilence: Bool
    }

    var found: [Outage] = []
    /// End of the evaluated minutes.
    var until: Date

    private static let minute: TimeInterval = 60
    /// Heartbeats of several instances may come a little out of order.
    private static let patience: TimeInterval = 2 * minute
    /// Outages closer than this are merged.
    private static let lull: TimeInterval = 10 * minute

    /// Evaluates the minutes after a coverage.
    ///
    /// A silence is detected when it is over: before a later heartbeat arrives, heartbeats may merely be unread.
    /// Failure checks continue meanwhile.
    /// - Parameter minutes: with a heartbeat, in order, from where the coverage is planned until.
    /// - Returns: nil where nothing is new.
    init?(behind coverage: Coverage, in minutes: [HeartbeatStore.Minute]) {
        guard let first = minutes.first?.start, let last = minutes.last?.start else { return nil }
        // Before the first heartbeat there was no ingest.
        let isFirstTime = coverage.plannedUntil <= coverage.beginsAt
        let start = isFirstTime ? max(first, coverage.plannedUntil) : coverage.plannedUntil
        until = last.addingTimeInterval(-Self.patience)
        guard until > coverage.plannedUntil else { return nil }
        let minutesBefore = (start.timeIntervalSince1970 / Self.minute).rounded(.up)
        var expected = Date(timeIntervalSince1970: minutesBefore * Self.minute)
        for minute in minutes where minute.start >= expected {
            guard expected < until else { break }
            if minute.start > expected { add(Outage(from: expected, to: minute.start, isSilence: true)) }
            let next = minute.start.addingTimeInterval(Self.minute)
            if minute.unavailable > 0 { add(Outage(from: minute.start, to: next, isSilence: false)) }
            expected = next
        }
        // Evaluated minutes are not evaluated again.
        until = max(until, min(expected, last))
    }

    private mutating func add(_ outage: Outage) {
        guard let last = found.last, outage.from.timeIntervalSince(last.to) <= Self.lull else {
            found.append(outage)
            return
        }
        found[found.count - 1].to = outage.to
        found[found.count - 1].isSilence = last.isSilence || outage.isSilence
    }
}

extension Outages.Outage {
    /// The window to request, with a margin: the edges are known to the minute only, and an attempt takes a while.
    func scope(_ coverage: Coverage, margin: TimeInterval = 300, now: Date) -> RecoveryWindow.Scope {
        RecoveryWindow.Scope(
            environment: coverage.environment, bundleId: coverage.bundleId, from: from.addingTimeInterval(-margin),
            to: min(to.addingTimeInterval(margin), now), onlyFailures: !isSilence)
    }
}
