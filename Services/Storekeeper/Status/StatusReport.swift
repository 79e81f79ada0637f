import Foundation

/// The one screen an operator looks at in an incident. Facts only; ``Attention`` judges them.
struct StatusReport: Sendable, Encodable {
    /// How far a stage is behind.
    struct Stage: Sendable, Encodable, Equatable {
        var name: String
        var topic: String
        /// Records that wait.
        var waiting: Int64
        /// Age of the oldest that waits, in seconds; nil where nothing waits, or its age is not known.
        var behindSeconds: Double?
    }

    /// What the ledger says.
    struct Ledger: Sendable, Encodable, Equatable {
        var lastReceivedAt: Date?
        var lastRecordedAt: Date?
        /// How many the two figures below are taken of.
        var sample: Int
        /// From webhook to committed state, milliseconds.
        var webhookToStateP50: Double?
        var webhookToStateP99: Double?
    }

    /// Dead letters of one kind within 24 hours.
    struct Refused: Sendable, Encodable, Equatable {
        var stage: String
        var reason: String
        var count: Int
    }

    /// A receiver that gave a sign within the hour.
    struct Receiver: Sendable, Encodable, Equatable {
        var instance: String
        /// The minute it told of last.
        var lastMinute: Date
        var accepted: Int64
        var refused: Int64
    }

    var at: Date
    var stages: Section<[Stage]>
    var ledger: Section<Ledger>
    var refused: Section<[Refused]>
    var receivers: Section<[Receiver]>
    var recovery: Section<RecoveryStatus>
    /// The line is so young that no receiver can have told of a minute yet.
    var isYoung = false
    /// What a person has to look at, most urgent first; filled by ``Attention``.
    var attention: [String] = []
}
