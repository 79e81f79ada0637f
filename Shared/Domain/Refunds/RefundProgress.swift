import struct Foundation.Date

/// What is to be done about a refund request, from what the ledger says, what was decided, and the clock.
package struct RefundProgress: Sendable {
    /// How long Apple takes an answer after a request.
    package static let limit = 12.0 * 3600

    /// The newest request and the newest outcome, by Apple's clock.
    package var requestedAt: Date?
    package var outcomeAt: Date?
    /// The newest decision; nil where there is none.
    package var latest: Decision?

    package init(requestedAt: Date?, outcomeAt: Date?, latest: Decision?) {
        self.requestedAt = requestedAt
        self.outcomeAt = outcomeAt
        self.latest = latest
    }

    /// A stored decision.
    package struct Decision: Sendable, Equatable {
        package var id: Int64
        package var decidedAt: Date
        /// Nil where there is a body.
        package var withheld: RefundDecision.WithheldReason?
        package var isSent: Bool
        package var failure: Failure?

        package init(
            id: Int64, decidedAt: Date, withheld: RefundDecision.WithheldReason? = nil, isSent: Bool = false,
            failure: Failure? = nil
        ) {
            self.id = id
            self.decidedAt = decidedAt
            self.withheld = withheld
            self.isSent = isSent
            self.failure = failure
        }
    }

    /// Why Apple has not taken a body.
    package enum Failure: Sendable, Equatable {
        /// The time was over. A later request of Apple's gives new time.
        case missed
        /// The consent was withdrawn. The body is sent once it is given again.
        case withdrawn
        /// Apple rejected it.
        case final
    }

    /// The next step.
    package enum Step: Sendable, Equatable {
        /// Nothing is left to do.
        case nothing
        /// A decision is due.
        case decide
        /// The body of the decision is to be sent.
        case send(Int64)
        /// The time is over; of a decision with a body, its id.
        case miss(Int64?)
    }

    /// Whether Apple still waits for an answer.
    package var isOpen: Bool {
        guard let requestedAt else { return false }
        return outcomeAt.map { requestedAt > $0 } ?? true
    }

    /// When Apple takes no answer any more.
    package var deadline: Date? { requestedAt?.addingTimeInterval(Self.limit) }

    /// The newest decision, where it is about the open request: made after the last outcome. A request after an outcome is a new one,
    /// a repeated request is not.
    package var current: Decision? {
        latest.flatMap { latest in (outcomeAt.map { latest.decidedAt > $0 } ?? true) ? latest : nil }
    }

    /// Whether a person or a backend may still decide.
    package func mayDecideByHand(at now: Date) -> Bool {
        guard isOpen, let deadline, now < deadline else { return false }
        return current.map { $0.withheld != nil } ?? true
    }

    package func step(at now: Date) -> Step {
        guard isOpen, let deadline else { return .nothing }
        let isOver = now >= deadline
        guard let current else { return isOver ? .miss(nil) : .decide }
        if let withheld = current.withheld {
            return withheld.isFinal || isOver ? .nothing : .decide
        }
        guard !current.isSent, current.failure != .final else { return .nothing }
        guard isOver else { return .send(current.id) }
        return current.failure == nil ? .miss(current.id) : .nothing
    }

    /// Seconds until the next attempt after some that failed: a second attempt soon, then ever later, for twelve hours.
    package static func pause(afterAttempts attempts: Int) -> Double {
        min(600, 5 * Double(1 << min(max(attempts - 1, 0), 10)))
    }
}
