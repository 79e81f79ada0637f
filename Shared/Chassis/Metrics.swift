// Every metric the house exposes, each name once. Seconds and bytes, `_total` for counters; labels have few values.

extension Metric {
    // MARK: Ingest

    static let stageBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// Answers to Apple's posts.
    public static let ingestRequests = counter(
        "storekeeper_ingest_requests_total", "Requests answered by ingest.", ["code"])
    /// How long Apple waits for our 200.
    public static let ingestAcknowledgement = histogram(
        "storekeeper_ingest_acknowledgement_seconds",
        "Time from the complete request to the answer 200, which includes the log's acknowledgement.",
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5])
    /// Requests that wait for the log.
    public static let ingestInFlight = gauge(
        "storekeeper_ingest_in_flight_requests", "Requests that wait for the log's acknowledgement.")
    /// `STOREKEEPER_INGEST_MAX_IN_FLIGHT`.
    public static let ingestInFlightLimit = gauge(
        "storekeeper_ingest_in_flight_limit_requests", "Requests that may wait for it at a time; one more gets 503.")

    // MARK: API

    /// Answers to app backends.
    public static let apiAnswers = counter(
        "storekeeper_api_answers_total", "Requests of app backends, by operation and status.", ["operation", "code"])
    /// What apps upload.
    public static let apiUploads = counter(
        "storekeeper_api_upload_parts_total",
        "Signed parts that apps uploaded, by outcome: accepted, or why they were refused.", ["outcome"])
    /// How long app backends wait.
    public static let apiAnswer = histogram(
        "storekeeper_api_answer_seconds", "Time from the head of a request to its answer.", ["operation"],
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30])

    // MARK: Stages

    /// Verdicts; `reason` is empty for what went on.
    public static let stageRecords = counter(
        "storekeeper_stage_records_total", "Records judged and settled, by outcome and reason.",
        ["stage", "outcome", "reason"])
    /// From poll to settlement.
    public static let stageBatch = histogram(
        "storekeeper_stage_batch_seconds", "Time to judge and settle a batch.", ["stage"], buckets: stageBuckets)
    /// How many records came at once.
    public static let stageBatchSize = histogram(
        "storekeeper_stage_batch_records", "Records per batch.", ["stage"],
        buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000])
    /// The batch is tried again because the world failed.
    public static let stageRetries = counter(
        "storekeeper_stage_retries_total", "Batches tried again because something outside failed.", ["stage"])
    /// 0 while records are handled, or none wait.
    public static let workerStalled = gauge(
        "storekeeper_worker_stalled_seconds", "Time without a handled record although records wait.", ["stage"])
    /// Somebody else has the partition.
    public static let settlementsFenced = counter(
        "storekeeper_settlements_fenced_total", "Batches given up because the partition belongs to another worker.",
        ["stage"])
    /// Records that were put aside with a reason.
    public static let deadLetters = counter(
        "storekeeper_dead_letters_total", "Records put aside as dead letters.", ["stage", "reason"])

    // MARK: The log

    /// How many records the stage is behind.
    public static let lagRecords = gauge(
        "storekeeper_consumer_lag_records", "Records of the log that the stage has not settled.",
        ["stage", "topic", "partition"])
    /// How old the record is that the stage works on.
    public static let lagSeconds = gauge(
        "storekeeper_consumer_lag_seconds", "Age of the record the stage works on; 0 when it is at the end.",
        ["stage", "topic", "partition"])
    /// Gone from the log before they were read.
    public static let recordsExpired = counter(
        "storekeeper_records_expired_total", "Records that left the log before the state-updater reached them.",
        ["topic"])
    /// Partitions given or taken.
    public static let rebalances = counter(
        "storekeeper_consumer_rebalances_total", "Changes of the stage's partitions.", ["stage", "change"])
    /// The producer had to be built anew.
    public static let producerFatal = counter(
        "storekeeper_producer_fatal_total", "Fatal errors of the producer, after which it is built anew.")
    /// From the client's statistics.
    public static let brokerRoundTrip = gauge(
        "storekeeper_broker_round_trip_seconds", "Recent average round trip to a broker.", ["broker"])
    /// From the client's statistics.
    public static let producerQueue = gauge(
        "storekeeper_producer_queue_records", "Records that wait in the producer.")

    // MARK: Verification

    /// Asked beside the line.
    public static let revocationAnswers = counter(
        "storekeeper_revocation_answers_total",
        "Questions about the revocation of a certificate, by answer: good, revoked, unknown, outdated, unreachable.",
        ["answer"])
    /// Above 0 somebody has to look.
    public static let certificatesRevoked = gauge(
        "storekeeper_revoked_certificates", "Certificates in recent use that are known to be revoked.")
    /// A wrong address in somebody's App Store Connect, or an app that was forgotten in our file.
    public static let unknownApps = counter(
        "storekeeper_unknown_app_notifications_total", "Genuine notifications for apps that are not configured.")
    /// The files of roots, apps and API keys changed.
    public static let trustReloads = counter(
        "storekeeper_trust_reloads_total", "Changed files of roots, apps or API keys, by outcome: used, unusable.",
        ["outcome"])

    // MARK: State

    /// Apple's posts that were proven and applied, without test notifications and without what history brought.
    public static let genuineNotifications = counter(
        "storekeeper_genuine_notifications_total", "Notifications that Apple posted and signed, test ones left out.",
        ["bundle", "environment"])
    /// What became of a notification in the ledger.
    public static let ledgerOutcomes = counter(
        "storekeeper_ledger_outcomes_total",
        "Notifications by their effect: inserted, repeated, advanced, stale, conflicting.",
        ["outcome"])
    /// The whole line, end to end.
    public static let webhookToState = histogram(
        "storekeeper_webhook_to_state_seconds", "Time from receipt of a webhook by ingest to the committed state.",
        buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600])

    /// Each pair of accounts is told once.
    public static let sharedAccounts = counter(
        "storekeeper_shared_accounts_total",
        "Accounts of the app found to live on an Apple account that another account of the app lives on.", ["app"])

    /// At least once; repeats count.
    public static let published = counter(
        "storekeeper_published_total", "Messages that were published out of the database.", ["topic"])
    /// The world failed the publisher.
    public static let publisherRetries = counter(
        "storekeeper_publisher_retries_total", "Attempts to publish that failed and are tried again.")

    // MARK: Apple's API

    /// Every attempt counts, repetitions included.
    public static let apiRequests = counter(
        "storekeeper_api_requests_total",
        "Requests to Apple's API, by result: success, unauthorized, rate-limited, transient, final.",
        ["bundle", "environment", "endpoint", "result"])

    // MARK: Recovery

    /// What recovery found in Apple's history.
    public static let historyItems = counter(
        "storekeeper_history_items_total",
        "Notifications found in Apple's history: present, missing (put on the line again), unreadable.", ["state"])
    /// Back in the ledger; what the line refused instead.
    public static let recovered = counter(
        "storekeeper_recovered_total",
        "Notifications that were missing, by what became of them: arrived in the ledger, refused by the line.",
        ["outcome"])
    /// Apple's words, as it tells them.
    public static let sendAttempts = counter(
        "storekeeper_send_attempts_total",
        "Attempts of Apple's to reach us, of notifications that were not delivered at once, by result.", ["result"])
    /// Windows that recovery has closed.
    public static let windowsClosed = counter(
        "storekeeper_recovery_windows_closed_total", "Windows of Apple's history of which everything is accounted for.")
    /// Single customers.
    public static let recoveryRequests = counter(
        "storekeeper_recovery_requests_total", "Customers whose history Apple was asked for, by outcome.", ["outcome"])
    /// They wait for a limit, a key or a network.
    public static let recoveryRequestsPostponed = gauge(
        "storekeeper_recovery_requests_postponed", "Customers whom Apple could not be asked about yet.")

    // MARK: Coverage

    /// 0 is the proof that nothing is: a day counts where its sweep failed, and where it was given up.
    public static let notificationsMissing = gauge(
        "storekeeper_notifications_missing",
        "What Apple lists and is neither in the ledger nor refused; a day left without a proof counts as one.",
        ["bundle", "environment"])
    /// Waiting: swept or swept again. Given up: Apple no longer lists them.
    public static let unprovenDays = gauge(
        "storekeeper_coverage_unproven", "Days that are over and not proven, by state: waiting, given-up.",
        ["bundle", "environment", "state"])
    /// Kinds: failures, sweep, heartbeats.
    public static let coverageAge = gauge(
        "storekeeper_coverage_age_seconds", "How long ago the time ends that is proven to be complete.",
        ["bundle", "environment", "kind"])
    /// Open, fetched, and failed of the last two days.
    public static let recoveryWindows = gauge(
        "storekeeper_recovery_windows", "Windows of Apple's history that are not closed.", ["state"])
    /// Repetitions count.
    public static let historyFetched = counter(
        "storekeeper_history_fetched_total", "Notifications fetched from Apple's history, by reason of the window.",
        ["reason"])
    /// Test notifications.
    public static let canaries = counter(
        "storekeeper_canaries_total",
        "Test notifications, by outcome: arrived, lost, unreached, unsent, refused (Apple would not send any).",
        ["bundle", "environment", "outcome"])
    /// Apple's own delay is in it.
    public static let canaryTime = histogram(
        "storekeeper_canary_seconds", "Time from asking Apple for a test notification to the ledger.",
        ["environment"], buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300])
    /// Each once before and once after its time.
    public static let overdue = counter(
        "storekeeper_overdue_purchases_total",
        "Purchases whose time passed, or is near, and of which nothing was heard, by time: past, near.", ["time"])
    /// The world failed the scheduler.
    public static let schedulerRetries = counter(
        "storekeeper_scheduler_retries_total", "Turns of the scheduler that failed and are tried again.", ["job"])

    // MARK: The process

    /// Tracing never holds the line up, so some may be lost.
    public static let spans = counter(
        "storekeeper_trace_spans_total", "Finished spans by what became of them: exported, dropped.", ["outcome"])

    /// What `/readyz` says, so that an instance that runs and gets no work is seen.
    public static let ready = gauge(
        "storekeeper_ready", "1 while the process is ready for work, as /readyz says it; else 0.")
    /// Always 1; the labels are the news.
    public static let buildInformation = gauge(
        "storekeeper_build_info", "Which service and version this is.", ["service", "version"])

    /// All of the above: what is not listed here is exposed without help and with buckets for seconds.
    public static let all: [Metric] = [
        ingestRequests, ingestAcknowledgement, ingestInFlight, ingestInFlightLimit, apiAnswers, apiUploads, apiAnswer,
        stageRecords,
        stageBatch, stageBatchSize, stageRetries, workerStalled, settlementsFenced, deadLetters, lagRecords, lagSeconds,
        recordsExpired, rebalances, producerFatal,
        brokerRoundTrip, producerQueue, revocationAnswers, certificatesRevoked, unknownApps, trustReloads,
        genuineNotifications, ledgerOutcomes, webhookToState, sharedAccounts, published, publisherRetries, apiRequests,
        historyItems, recovered, sendAttempts, windowsClosed, recoveryRequests,
        recoveryRequestsPostponed,
        notificationsMissing, unprovenDays, coverageAge, recoveryWindows, historyFetched, canaries, canaryTime, overdue,
        schedulerRetries, spans, ready, buildInformation,
    ]
}
