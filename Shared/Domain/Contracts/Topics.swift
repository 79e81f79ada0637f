import Records

/// Every topic with its key, message, size, age, writers and readers.
///
/// `setup` creates exactly these. The name of a topic occurs here and nowhere else.
public enum Topics {
    /// Payloads as they were posted, unchanged. Without a key, so that a client cannot make a hot partition.
    public static let received = Topic<ReceivedNotification>(
        "notifications.received", key: .none, writers: [.ingest, .recovery, .api, .console, .storekeeper],
        readers: [.verifier], isSealed: true)

    /// Payloads under a certificate chain that the verifier had not verified before, while its budget was used up: of genuine
    /// notifications at most the first few after Apple has changed its certificate, and otherwise forgeries. Also repeats of rejected
    /// payloads, beyond a number a second.
    public static let deferred = Topic<ReceivedNotification>(
        "notifications.deferred", key: .none, partitions: 8, writers: [.verifier], readers: [.verifier])

    /// Topics whose records are a ``ReceivedNotification``: the value of their dead letters is the posted payload.
    public static let unverified: Set<String> = [received.name, deferred.name]

    /// Payloads that Apple signed for a configured app.
    public static let verified = Topic<VerifiedNotification>(
        "notifications.verified", key: .subject, writers: [.verifier], readers: [.deduplicator], isSealed: true)

    /// The first record of each notificationUUID.
    public static let unique = Topic<UniqueNotification>(
        "notifications.unique", key: .subject, writers: [.deduplicator], readers: [.stateUpdater],
        isSealed: true)

    /// Dead letters of every stage: the original bytes with the reason in headers.
    public static let rejected = Topic<DeadLetter>(
        "notifications.rejected", key: .original, partitions: 8, retention: .seconds(30 * day),
        writers: [.verifier, .deduplicator, .stateUpdater, .scheduler, .recovery, .webhooks],
        readers: [.recovery, .console, .storekeeper])

    /// Once a minute, from each ingest: alive, accepted, rejected. Gaps are outages.
    public static let heartbeats = Topic<IngestHeartbeat>(
        "ingest.heartbeats", key: .instance, partitions: 1, retention: .seconds(30 * day),
        writers: [.ingest], readers: [.scheduler, .storekeeper])

    /// Changes of purchases. For other consumers, too; they drop repeats by `ce_id`.
    public static let changed = Topic<SubscriptionChanged>(
        "subscriptions.changed", key: .subject, retention: .seconds(30 * day), writers: [.stateUpdater],
        readers: [.webhooks])

    /// Purchases with a gap in their lifecycle.
    public static let recoveryRequests = Topic<RecoveryRequest>(
        "recovery.requests", key: .subject, partitions: 8, retention: .seconds(30 * day),
        writers: [.stateUpdater, .scheduler], readers: [.recovery])

    /// Apple's notification history, as it was fetched. Pages of a window spread over partitions; their order does not matter.
    public static let historyPages = Topic<HistoryPage>(
        "history.pages", key: .none, partitions: 8, writers: [.scheduler], readers: [.recovery])

    /// Every topic, in the order of the pipeline.
    public static let all: [Route] = [
        received.route, deferred.route, verified.route, unique.route, rejected.route, heartbeats.route, changed.route,
        recoveryRequests.route, historyPages.route,
    ]

    /// For workers and producers.
    public static let plan = TopicPlan(routes: all, deadLetters: rejected)

    private static let day: Int64 = 24 * 60 * 60
}
