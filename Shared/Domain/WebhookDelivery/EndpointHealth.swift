import struct Foundation.Date
import struct Foundation.UUID

/// How a receiver has answered lately, and what follows from it. No I/O.
///
/// A receiver that fails five times in a row is *failing*: it gets one request at a time, 5 seconds to 15 minutes apart, and what
/// waits for it uses up no attempts, so that an outage of a receiver neither gives up events nor takes places from others.
package struct EndpointHealth: Sendable, Equatable {
    /// Why an endpoint gets nothing any more until an operator resumes it.
    package enum DisabledReason: String, Sendable, Equatable {
        /// It answered 410.
        case gone
        /// It failed for ``patience``.
        case failing
    }

    /// Failures in a row at which a receiver is failing.
    package static let limit: Int32 = 5
    /// How long a receiver may fail, in seconds: five days.
    package static let patience: Double = 5 * 86_400
    /// Seconds between the first two probes; doubled with each further failure.
    package static let shortestProbe: Double = 5
    /// The most seconds between two probes.
    package static let longestProbe: Double = 15 * 60
    /// The most seconds that a receiver's Retry-After pauses an endpoint.
    package static let longestPause: Double = 3600

    /// Failures in a row.
    package var failures: Int32
    /// The one with which it began to fail: a failure of last week and one of today are no outage.
    package var failingSince: Date?
    /// While it fails or is tested: when the next request is sent.
    package var nextProbeAt: Date
    /// By the receiver's Retry-After; nil where it gave none.
    package var pausedUntil: Date?
    /// When an operator, or the creation of the endpoint, asked for a `webhook.test` that was not sent yet.
    package var testRequestedAt: Date?
    /// Another endpoint of the environment that was disabled, of which this one is told next; nil where there is nothing to tell.
    package var notice: Notice?
    /// When it was disabled.
    package var disabledAt: Date?
    /// Why it is disabled; nil where it is not.
    package var disabledBecause: DisabledReason?
    /// What went wrong last, a clause.
    package var lastFault: String?

    /// That another endpoint was disabled.
    package struct Notice: Sendable, Equatable {
        package var about: UUID
        package var at: Date

        package init(about: UUID, at: Date) {
            self.about = about
            self.at = at
        }
    }

    /// Without a failure.
    package init(nextProbeAt: Date, testRequestedAt: Date? = nil) {
        failures = 0
        self.nextProbeAt = nextProbeAt
        self.testRequestedAt = testRequestedAt
    }

    /// Whether it gets one request at a time.
    package var isFailing: Bool { failures >= Self.limit }

    /// Whether the receiver asked for a pause that has not passed.
    package func isPaused(at now: Date) -> Bool { pausedUntil.map { now < $0 } ?? false }

    /// What an answer means for the deliveries.
    package enum Effect: Sendable, Equatable {
        case none
        /// It was failing and answers again: what waits is due at once.
        case recovered
        /// Nothing is sent any more.
        case disabled(DisabledReason)
    }

    /// A request was answered with 2xx. A pause that has not passed stays: the request may have been under way when the receiver asked for
    /// it.
    package mutating func succeeded(at now: Date) -> Effect {
        let wasFailing = isFailing
        failures = 0
        failingSince = nil
        if !isPaused(at: now) { pausedUntil = nil }
        lastFault = nil
        return wasFailing ? .recovered : .none
    }

    /// A request failed.
    /// - Parameter fault: a clause.
    package mutating func failed(_ fault: String, at now: Date) -> Effect {
        failures = failures == .max ? .max : failures + 1
        lastFault = fault
        nextProbeAt = now.addingTimeInterval(probeDelay)
        guard isFailing else { return .none }
        let since = failingSince ?? now
        failingSince = since
        return now.timeIntervalSince(since) >= Self.patience ? disable(.failing, at: now) : .none
    }

    /// The receiver asked for a pause: no failure, and the delivery uses up no attempt.
    /// - Parameter seconds: as it asked; an hour at most is granted.
    package mutating func throttled(for seconds: Double, at now: Date) {
        let end = now.addingTimeInterval(min(max(seconds, 1), Self.longestPause))
        pausedUntil = max(pausedUntil ?? end, end)
        nextProbeAt = max(nextProbeAt, end)
    }

    /// The receiver answered 410.
    package mutating func gone(at now: Date) -> Effect {
        lastFault = "answered 410: the receiver wants no more webhooks"
        return disable(.gone, at: now)
    }

    private var probeDelay: Double {
        let doublings = max(0, min(Int(failures) - Int(Self.limit), 10))
        return min(Self.longestProbe, Self.shortestProbe * Double(1 << doublings))
    }

    private mutating func disable(_ reason: DisabledReason, at now: Date) -> Effect {
        disabledAt = now
        disabledBecause = reason
        return .disabled(reason)
    }
}
