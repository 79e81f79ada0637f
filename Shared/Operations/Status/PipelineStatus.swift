import Foundation

/// The facts of the status screen; ``Attention`` finds the problems in them.
package struct PipelineStatus: Sendable, Encodable {
    /// The lag of a stage.
    package struct Stage: Sendable, Encodable, Equatable {
        package var name: String
        package var topic: String
        /// Unread records.
        package var waiting: Int64
        /// Age of the oldest unread record in seconds; nil where there is none, or its age is unknown.
        package var behindSeconds: Double?
        /// Far behind, and not one record was settled while status looked.
        package var isStalled = false
        /// Records that it has settled since the topic began; the difference of two looks is its rate.
        package var settled: Int64?
        /// When it last began again at the start of its topic, because the topic does not have the records that it had read; nil
        /// where that is more than a day ago.
        package var restartedAt: Date?
        /// Partitions with a stored offset that the topic does not have.
        package var orphanedPartitions: [Int32] = []
        /// Partitions whose leader does not answer here; nothing of them is counted.
        package var unreadPartitions: [Int32] = []
    }

    /// A broker of the Kafka cluster.
    package struct Broker: Sendable, Encodable, Equatable {
        package var id: Int32
        package var address: String
        /// From the machine on which status runs.
        package var isReachable: Bool
    }

    /// The newest notifications of the ledger.
    package struct Ledger: Sendable, Encodable, Equatable {
        package var lastReceivedAt: Date?
        package var lastRecordedAt: Date?
        /// Sample size of the two figures below.
        package var sample: Int
        /// From webhook to committed state, milliseconds.
        package var webhookToStateP50: Double?
        package var webhookToStateP99: Double?
    }

    /// Open dead letters of one stage and reason within 24 hours.
    package struct Rejected: Sendable, Encodable, Equatable {
        package var stage: String
        package var reason: String
        package var count: Int
        /// Within ten minutes.
        package var recent = 0
    }

    /// A receiver that sent a heartbeat within the last hour.
    package struct Receiver: Sendable, Encodable, Equatable {
        package var instance: String
        /// The minute of its last heartbeat.
        package var lastMinute: Date
        package var accepted: Int64
        package var rejected: Int64
        /// Answered 500 or above, so that Apple repeats them.
        package var unavailable: Int64 = 0
        /// The last minute with such an answer.
        package var lastUnavailable: Date?
        /// It was stopped in order, so that its silence is meant.
        package var isStopped = false
    }

    /// Notifications of version 1 of an app within 24 hours.
    package struct Version1: Sendable, Encodable, Equatable {
        package var app: String
        package var environment: String
        package var count: Int64
        package var last: Date
    }

    /// Changes that `subscriptions.changed` does not have yet.
    package struct Unpublished: Sendable, Encodable, Equatable {
        package var count: Int64 = 0
        package var oldest: Date?
    }

    /// A statement that waits for a lock.
    package struct Blocked: Sendable, Encodable, Equatable {
        package var application: String
        package var since: Date?
        /// Seconds since then by the database's clock.
        package var seconds: Double?
        /// Who blocks it.
        package var by: String
        /// Process of the session that blocks it; 0 for a prepared transaction.
        package var process: Int32
    }

    /// The transaction for whose end the feed of events waits.
    package struct FeedBlocker: Sendable, Encodable, Equatable {
        /// When the transaction began.
        package var since: Date
        /// Seconds since then by the database's clock.
        package var seconds: Double
        package var by: String
        /// The statement that ends it.
        package var remedy: String
    }

    /// A non-renewing product whose duration an operator has to set.
    package struct UnknownDuration: Sendable, Encodable, Equatable {
        package var app: String
        package var product: String
        /// How many of its purchases give access without an end.
        package var purchases: Int
    }

    /// Restores of an app that were rejected within 24 hours, because their purchases had moved too often.
    package struct RejectedTransfers: Sendable, Encodable, Equatable {
        package var app: String
        package var environment: String
        package var purchases: Int
    }

    /// An endpoint of webhooks.
    package struct Webhook: Sendable, Encodable, Equatable {
        package var id: String
        package var url: String
        /// As `storekeeper webhooks list` shows it.
        package var state: String
        package var lastFault: String?
        /// Purchases with something to send.
        package var waiting: Int64
        /// When the oldest of what waits was applied.
        package var oldest: Date?

        package init(
            id: String, url: String, state: String, lastFault: String? = nil, waiting: Int64 = 0, oldest: Date? = nil
        ) {
            self.id = id
            self.url = url
            self.state = state
            self.lastFault = lastFault
            self.waiting = waiting
            self.oldest = oldest
        }
    }

    /// The refund requests of an app within the last day.
    package struct Refunds: Sendable, Encodable, Equatable {
        package var app: String
        package var environment: String
        /// Requests that are not answered, and when the time of the first of them is over.
        package var open: Int64
        package var deadline: Date?
        /// Answers that Apple has not taken yet, and when the oldest was decided.
        package var waiting: Int64 = 0
        package var oldestWaiting: Date?
        /// Not answered in time, and rejected by Apple.
        package var missed: Int64 = 0
        package var failed: Int64 = 0

        package init(
            app: String, environment: String, open: Int64 = 0, deadline: Date? = nil, waiting: Int64 = 0,
            oldestWaiting: Date? = nil, missed: Int64 = 0, failed: Int64 = 0
        ) {
            self.app = app
            self.environment = environment
            self.open = open
            self.deadline = deadline
            self.waiting = waiting
            self.oldestWaiting = oldestWaiting
            self.missed = missed
            self.failed = failed
        }
    }

    /// How far the figures of revenue are.
    package struct Figures: Sendable, Encodable, Equatable {
        /// Nil while they are computed for the first time.
        package var asOf: Date?
        package var checkedAt: Date?
        /// The same; before the first check, when the database got figures.
        package var uncheckedSince: Date?
        /// Cells that the check found different from transactions and access periods.
        package var differences: Int64 = 0
    }

    /// A section of the screen, in the order of an operator's questions.
    package enum ScreenSection: Sendable, CaseIterable {
        case receivers, brokers, stages, ledger, unpublished, blocked, recovery, rejected
    }

    package var at: Date
    package var stages: Section<[Stage]>
    /// Why the lag of a stage that ``stages`` lacks could not be read, by its name.
    package var unreadStages: [String: String] = [:]
    package var ledger: Section<Ledger>
    package var rejected: Section<[Rejected]>
    package var receivers: Section<[Receiver]>
    package var recovery: Section<RecoveryStatus>
    package var brokers: Section<[Broker]> = .read([])
    package var unpublished: Section<Unpublished> = .read(Unpublished())
    package var blocked: Section<[Blocked]> = .read([])
    package var feedBlocker: FeedBlocker?
    /// Seconds by which the database's clock is ahead of that of the machine on which status runs; negative where it is behind.
    package var clockDifference: Double?
    /// The deployment is so young that no receiver can have sent a heartbeat yet.
    package var isYoung = false
    /// Topics that are not as meant, one sentence each.
    package var topicProblems: [String] = []
    package var version1: [Version1] = []
    package var webhooks: [Webhook] = []
    package var refunds: [Refunds] = []
    package var figures: Figures?
    package var unknownDurations: [UnknownDuration] = []
    package var rejectedTransfers: [RejectedTransfers] = []
    /// Why any of what is no ``Section`` could not be read, by its name: that it is empty then says nothing.
    package var unread: [String: String] = [:]
    /// Problems, most urgent first; filled by ``Attention``.
    package var attention: [String] = []
    /// What an operator may want to set or know, and what is no problem; filled by ``Attention``.
    package var hints: [String] = []

    /// Whether a part of it did not answer within its time.
    package var isLate: Bool {
        let problems = [
            receivers.problem, brokers.problem, stages.problem, ledger.problem, unpublished.problem, blocked.problem,
            recovery.problem, rejected.problem,
        ]
        return (problems.compactMap(\.self) + unread.values).contains { $0.hasPrefix(Section<Int>.late) }
    }
}
