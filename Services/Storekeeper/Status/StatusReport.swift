import Foundation

/// The facts of the status screen; ``Attention`` finds the problems in them.
struct StatusReport: Sendable, Encodable {
    /// The lag of a stage.
    struct Stage: Sendable, Encodable, Equatable {
        var name: String
        var topic: String
        /// Unread records.
        var waiting: Int64
        /// Age of the oldest unread record in seconds; nil where there is none, or its age is unknown.
        var behindSeconds: Double?
        /// Far behind, and not one record was settled while status looked.
        var isStalled = false
    }

    /// The newest notifications of the ledger.
    struct Ledger: Sendable, Encodable, Equatable {
        var lastReceivedAt: Date?
        var lastRecordedAt: Date?
        /// Sample size of the two figures below.
        var sample: Int
        /// From webhook to committed state, milliseconds.
        var webhookToStateP50: Double?
        var webhookToStateP99: Double?
    }

    /// Dead letters of one stage and reason within 24 hours.
    struct Refused: Sendable, Encodable, Equatable {
        var stage: String
        var reason: String
        var count: Int
    }

    /// A receiver that sent a heartbeat within the last hour.
    struct Receiver: Sendable, Encodable, Equatable {
        var instance: String
        /// The minute of its last heartbeat.
        var lastMinute: Date
        var accepted: Int64
        var refused: Int64
    }

    /// A non-renewing product whose duration an operator has to set.
    struct UnknownDuration: Sendable, Encodable, Equatable {
        var app: String
        var product: String
        /// How many of its purchases give access without an end.
        var purchases: Int
    }

    var at: Date
    var stages: Section<[Stage]>
    var ledger: Section<Ledger>
    var refused: Section<[Refused]>
    var receivers: Section<[Receiver]>
    var recovery: Section<RecoveryStatus>
    /// The deployment is so young that no receiver can have sent a heartbeat yet.
    var isYoung = false
    /// Topics that are not as meant, one sentence each.
    var topicProblems: [String] = []
    var unknownDurations: [UnknownDuration] = []
    /// Problems, most urgent first; filled by ``Attention``.
    var attention: [String] = []
}
