/// Every topic with its key, message, size, age, writers and readers.
///
/// `setup` creates exactly these. The name of a topic occurs here and nowhere else.
public enum Topics {
    /// Payloads as they were posted, unchanged. Without a key, so that a client cannot make a hot partition.
    public static let received = Topic<ReceivedNotification>(
        "notifications.received", key: .none, writers: [.ingest, .recovery, .api, .console, .storekeeper],
        readers: [.verifier])

    /// Payloads under a certificate chain that the verifier had not verified before, while its budget was used up: of genuine
    /// notifications at most the first few after Apple has changed its certificate, and otherwise forgeries. Also repeats of rejected
    /// payloads, beyond a number a second.
    public static let deferred = Topic<ReceivedNotification>(
        "notifications.deferred", key: .none, partitions: 8, writers: [.verifier], readers: [.verifier])

    /// Topics whose records are a ``ReceivedNotification``: the value of their dead letters is the posted payload.
    public static let unverified: Set<String> = [received.name, deferred.name]

    /// Payloads that Apple signed for a configured app.
    public static let verified = Topic<VerifiedNotification>(
        "notifications.verified", key: .subscription, writers: [.verifier], readers: [.deduplicator])

    /// The first record of each notificationUUID.
    public static let unique = Topic<UniqueNotification>(
        "notifications.unique", key: .subscription, writers: [.deduplicator], readers: [.stateUpdater])

    /// Dead letters of every stage: the original bytes with the reason in headers.
    public static let rejected = Topic<DeadLetter>(
        "notifications.rejected", key: .original, partitions: 8, retention: .seconds(30 * day),
        writers: [.verifier, .deduplicator, .stateUpdater, .scheduler, .recovery],
        readers: [.recovery, .console, .storekeeper])

    /// Once a minute, from each ingest: alive, accepted, rejected. Gaps are outages.
    public static let heartbeats = Topic<IngestHeartbeat>(
        "ingest.heartbeats", key: .instance, partitions: 1, retention: .seconds(30 * day),
        writers: [.ingest], readers: [.scheduler, .storekeeper])

    /// Changes of purchases. For other consumers; they drop repeats by `ce_id`.
    public static let changed = Topic<SubscriptionChanged>(
        "subscriptions.changed", key: .subscription, retention: .seconds(30 * day), writers: [.stateUpdater],
        readers: [])

    /// Purchases with a gap in their lifecycle.
    public static let recoveryRequests = Topic<RecoveryRequest>(
        "recovery.requests", key: .subscription, partitions: 8, retention: .seconds(30 * day),
        writers: [.stateUpdater, .scheduler], readers: [.recovery])

    /// Apple's notification history, as it was fetched. Pages of a window spread over partitions; their order does not matter.
    public static let historyPages = Topic<HistoryPage>(
        "history.pages", key: .none, partitions: 8, writers: [.scheduler], readers: [.recovery])

    /// Every topic, in the order of the pipeline.
    public static let all: [Route] = [
        received.route, deferred.route, verified.route, unique.route, rejected.route, heartbeats.route, changed.route,
        recoveryRequests.route, historyPages.route,
    ]

    /// The topics that a service writes to or reads, and the least number of partitions of each.
    public static func required(by service: ServiceName) -> [String: Int] {
        Dictionary(
            uniqueKeysWithValues: all.filter { $0.writers.contains(service) || $0.readers.contains(service) }
                .map { ($0.name, $0.partitions) })
    }

    static let day: Int64 = 24 * 60 * 60
}

/// A topic and the message type of its records.
public struct Topic<Message: TopicMessage>: Sendable {
    /// The settings that `setup` needs.
    public let route: Route
    /// The name by which the broker knows the topic.
    public var name: String { route.name }

    /// - Parameter partitions: each costs every batch a request and a compression of its own, and one instance of a stage does
    ///   thousands of notifications a second. An operator can add some at any time, because the order of arrival changes nothing.
    init(
        _ name: String, key: Route.Key, partitions: Int = 16, retention: Duration = .seconds(7 * Topics.day),
        writers: [ServiceName], readers: [ServiceName]
    ) {
        route = Route(
            name: name, key: key, partitions: partitions, retention: retention, writers: writers, readers: readers)
    }
}

/// What `setup` and the access-control list need to know of a topic.
public struct Route: Sendable, Hashable {
    /// The partition key of a record.
    public enum Key: String, Sendable {
        /// No key: records spread evenly.
        case none
        /// Apple's original transaction id, else the notificationUUID: one worker gets all notifications of one subscription.
        case subscription
        /// The key of the record that was rejected.
        case original
        /// The name of the instance.
        case instance
    }

    /// As in Kafka.
    public let name: String
    /// What decides the partition of a record.
    public let key: Key
    /// Number of partitions that `setup` creates.
    public let partitions: Int
    /// How long the broker keeps a record.
    public let retention: Duration
    /// Services that may write to the topic.
    public let writers: [ServiceName]
    /// Services that may read the topic.
    public let readers: [ServiceName]
}
