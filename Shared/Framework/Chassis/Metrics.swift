// Every metric of the project, each name once. Seconds and bytes, `_total` for counters; labels have few values.

extension Metric {
    // MARK: Ingest

    static let stageBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

    /// Answers to Apple's requests.
    public static let ingestRequests = counter(
        "storekeeper_ingest_requests_total", "Requests answered by ingest.", ["code"])
    /// How long Apple waits for a 200.
    public static let ingestAcknowledgement = histogram(
        "storekeeper_ingest_acknowledgement_seconds",
        "Time from the complete request to the answer 200, including Kafka's acknowledgement.",
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5])
    /// Requests that wait for Kafka.
    public static let ingestInFlight = gauge(
        "storekeeper_ingest_in_flight_requests", "Requests that wait for Kafka's acknowledgement.")
    /// `STOREKEEPER_INGEST_MAX_IN_FLIGHT`.
    public static let ingestInFlightLimit = gauge(
        "storekeeper_ingest_in_flight_limit_requests", "Maximum number of requests that wait for Kafka; others get 503."
    )

    /// `min.insync.replicas` of the topic that ingest writes to, as it was when ingest started.
    public static let confirmingReplicas = gauge(
        "storekeeper_confirming_replicas", "Replicas that have to confirm a notification before ingest answers 200.")

    // MARK: API

    /// Answers to app backends.
    public static let apiAnswers = counter(
        "storekeeper_api_answers_total", "Requests of app backends, by operation and status.", ["operation", "code"])
    /// Uploads of apps.
    public static let apiUploads = counter(
        "storekeeper_api_upload_parts_total",
        "Signed objects that apps uploaded, by outcome: accepted, or why they were rejected.", ["outcome"])
    /// Response times.
    public static let apiAnswer = histogram(
        "storekeeper_api_answer_seconds", "Time from the head of a request to its answer.", ["operation"],
        buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 30])

    /// Events are shown when every transaction has ended that could still add one before them.
    public static let eventsUndecided = gauge(
        "storekeeper_events_undecided_seconds",
        "Time since the oldest event was stored that GET /v1/events does not show, because an older transaction has not ended."
    )

    // MARK: Console

    /// Answers to people.
    public static let consoleAnswers = counter(
        "storekeeper_console_answers_total", "Requests of browsers to the console, by route and status.",
        ["route", "code"])
    /// How long people wait.
    public static let consoleAnswer = histogram(
        "storekeeper_console_answer_seconds", "Time from a browser's request to the page.", ["route"],
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5])

    // MARK: Stages

    /// Results; `reason` is empty for records that were passed on.
    public static let stageRecords = counter(
        "storekeeper_stage_records_total", "Records processed and committed, by outcome and reason.",
        ["stage", "outcome", "reason"])
    /// From poll to commit.
    public static let stageBatch = histogram(
        "storekeeper_stage_batch_seconds", "Time to process and commit a batch.", ["stage"], buckets: stageBuckets)
    /// Size of batches.
    public static let stageBatchSize = histogram(
        "storekeeper_stage_batch_records", "Records per batch.", ["stage"],
        buckets: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000])
    /// Retries of a batch because a dependency was unavailable.
    public static let stageRetries = counter(
        "storekeeper_stage_retries_total", "Batches retried because a dependency was unavailable.", ["stage"])
    /// 0 while records are processed, or none wait.
    public static let workerStalled = gauge(
        "storekeeper_worker_stalled_seconds", "Time without a processed record although records wait.", ["stage"])
    /// Another worker has the partition.
    public static let batchesFenced = counter(
        "storekeeper_batches_fenced_total", "Batches dropped because the partition belongs to another worker.",
        ["stage"])
    /// Rejected records.
    public static let deadLetters = counter(
        "storekeeper_dead_letters_total", "Records written as dead letters.", ["stage", "reason"])

    // MARK: Kafka

    /// The lag of the stage.
    public static let lagRecords = gauge(
        "storekeeper_consumer_lag_records", "Records of its topics that the stage has not committed.",
        ["stage", "topic", "partition"])
    /// The age of the current record.
    public static let lagSeconds = gauge(
        "storekeeper_consumer_lag_seconds", "Age of the record that the stage processes; 0 at the end of its topics.",
        ["stage", "topic", "partition"])
    /// Dropped by retention before they were read.
    public static let recordsExpired = counter(
        "storekeeper_records_expired_total", "Records that retention dropped before a stage read them.",
        ["topic"])
    /// Above 0 an operator has to recover what was lost.
    public static let topicRestarts = counter(
        "storekeeper_topic_restarts_total",
        "Times that a stage began again at the start of a topic that does not have the records it had read.",
        ["stage", "topic"])
    /// Assigned and revoked partitions.
    public static let rebalances = counter(
        "storekeeper_consumer_rebalances_total", "Changes of the stage's partitions.", ["stage", "change"])
    /// The producer's client was replaced.
    public static let producerFatal = counter(
        "storekeeper_producer_fatal_total", "Fatal errors of the producer, after which it creates another client.")
    /// From the client's statistics.
    public static let brokerRoundTrip = gauge(
        "storekeeper_broker_round_trip_seconds", "Recent average round trip to a broker.", ["broker"])
    /// From the client's statistics.
    public static let producerQueue = gauge(
        "storekeeper_producer_queue_records", "Records that wait in the producer.")

    // MARK: Verification

    /// Checked beside the pipeline.
    public static let revocationAnswers = counter(
        "storekeeper_revocation_answers_total",
        "OCSP requests about certificates, by answer: good, revoked, unknown, outdated, unreachable.",
        ["answer"])
    /// Above 0 an operator must act.
    public static let certificatesRevoked = gauge(
        "storekeeper_revoked_certificates", "Certificates in recent use that are known to be revoked.")
    /// A wrong address in another developer's App Store Connect, or an app that is missing in the configuration.
    public static let unknownApps = counter(
        "storekeeper_unknown_app_notifications_total", "Genuine notifications for apps that are not configured.")
    /// The files of roots, apps and API keys changed.
    public static let trustReloads = counter(
        "storekeeper_trust_reloads_total",
        "Changed files of roots, apps, API keys or TLS certificates, by outcome: used, unusable.",
        ["outcome"])

    // MARK: State

    /// Verified and applied notifications of Apple's requests, without test notifications and without those from history.
    public static let genuineNotifications = counter(
        "storekeeper_genuine_notifications_total",
        "Notifications that Apple posted and signed, without test notifications.",
        ["bundle", "environment"])
    /// App Store Connect is set to the wrong version, or another client posts them. They change no state.
    public static let version1Notifications = counter(
        "storekeeper_version1_notifications_total",
        "Notifications of version 1, which have no signature, by the app that they name.", ["bundle"])
    /// Those above 600 s are repetitions of deliveries that failed.
    public static let deliveryDelay = histogram(
        "storekeeper_notification_delivery_delay_seconds",
        "Time from Apple's signature to the receipt of a notification that Apple posted, by type.", ["type"],
        buckets: [1, 5, 30, 60, 600, 3600, 7200, 50_400, 144_000, 320_400, 604_800])
    /// The effect of a notification on the ledger.
    public static let ledgerOutcomes = counter(
        "storekeeper_ledger_outcomes_total",
        "Notifications by their effect: inserted, repeated, advanced, stale, conflicting.",
        ["outcome"])
    /// The whole pipeline, end to end.
    public static let webhookToState = histogram(
        "storekeeper_webhook_to_state_seconds", "Time from receipt of a webhook by ingest to the committed state.",
        buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600])

    /// Each pair of accounts is counted once.
    public static let sharedAccounts = counter(
        "storekeeper_shared_accounts_total",
        "Accounts of the app found on an Apple account that another account of the app uses.", ["app"])

    /// At least once; repeats count.
    public static let published = counter(
        "storekeeper_published_total", "Messages published from the database's outbox.", ["topic"])
    /// A dependency of the publisher was unavailable.
    public static let publisherRetries = counter(
        "storekeeper_publisher_retries_total", "Failed attempts to publish, which are retried.")

    // MARK: Webhooks

    /// Retries and tests count.
    public static let webhookRequests = counter(
        "storekeeper_webhook_requests_total",
        "Requests to receivers, by outcome: delivered, failed (an answer that is not 2xx), unanswered, throttled, gone (410).",
        ["endpoint", "outcome"])
    /// They can be replayed.
    public static let webhooksGivenUp = counter(
        "storekeeper_webhooks_given_up_total",
        "Deliveries given up after all attempts, or because the stored notification is damaged.", ["endpoint"])
    /// What an operator paused waits, too.
    public static let webhooksWaiting = gauge(
        "storekeeper_webhook_purchases_waiting", "Purchases with something to send to the endpoint.", ["endpoint"])
    /// 0 where nothing waits.
    public static let webhookOldestWaiting = gauge(
        "storekeeper_webhook_oldest_waiting_seconds", "Time since the oldest change that waits was applied.",
        ["endpoint"])
    /// 64 in all for each instance.
    public static let webhookPlaces = gauge(
        "storekeeper_webhook_places_used", "Requests of this instance that are under way.", ["endpoint"])
    /// 1 for the state of the endpoint, else 0.
    public static let webhookEndpoints = gauge(
        "storekeeper_webhook_endpoint_state",
        "1 for the state of the endpoint, else 0: testing, active, failing, paused, disabled.", ["endpoint", "state"])
    /// Without replays.
    public static let changeToWebhook = histogram(
        "storekeeper_change_to_webhook_seconds", "Time from the committed change to the receiver's answer 2xx.",
        buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 3600, 86_400])

    // MARK: Apple's API

    /// Every attempt counts, repetitions included.
    public static let apiRequests = counter(
        "storekeeper_api_requests_total",
        "Requests to Apple's API, by result: success, unauthorized, rate-limited, transient, final.",
        ["bundle", "environment", "endpoint", "result"])

    // MARK: Recovery

    /// Notifications in Apple's history.
    public static let historyItems = counter(
        "storekeeper_history_items_total",
        "Notifications found in Apple's history: present, missing (sent through the pipeline again), unreadable.",
        ["state"])
    /// In the ledger; or rejected by the pipeline.
    public static let recovered = counter(
        "storekeeper_recovered_total",
        "Notifications that were missing, by result: arrived in the ledger, rejected by the pipeline.",
        ["outcome"])
    /// In Apple's terms.
    public static let sendAttempts = counter(
        "storekeeper_send_attempts_total",
        "Apple's attempts to deliver notifications that were not delivered at once, by result.", ["result"])
    /// Windows that recovery has closed.
    public static let windowsClosed = counter(
        "storekeeper_recovery_windows_closed_total",
        "Windows of Apple's history whose notifications are all accounted for.")
    /// Single customers.
    public static let recoveryRequests = counter(
        "storekeeper_recovery_requests_total", "Customers whose history was requested from Apple, by outcome.",
        ["outcome"])
    /// They wait for a rate limit, a key or the network.
    public static let recoveryRequestsPostponed = gauge(
        "storekeeper_recovery_requests_postponed", "Customers whose history could not be requested from Apple yet.")

    // MARK: Coverage

    /// 0 means that nothing is missing: a day counts where its comparison failed, and where it was given up.
    public static let notificationsMissing = gauge(
        "storekeeper_notifications_missing",
        "In Apple's history, and neither in the ledger nor rejected; a day that could not be compared counts as one.",
        ["bundle", "environment"])
    /// Waiting: compared, or compared again. Given up: Apple no longer lists them.
    public static let incompleteDays = gauge(
        "storekeeper_coverage_incomplete",
        "Days that are over and not complete (all that Apple lists is in the ledger or rejected), by state: waiting, given-up.",
        ["bundle", "environment", "state"])
    /// Kinds: failures, sweep, heartbeats.
    public static let coverageAge = gauge(
        "storekeeper_coverage_age_seconds",
        "Time since the end of the period that was compared with Apple's history and is complete.",
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
        "Test notifications, by outcome: arrived, lost, unreached, unsent, rejected (Apple would not send any).",
        ["bundle", "environment", "outcome"])
    /// Apple's own delay is included.
    public static let canaryTime = histogram(
        "storekeeper_canary_seconds", "Time from requesting a test notification from Apple to the ledger.",
        ["environment"], buckets: [0.5, 1, 2.5, 5, 10, 30, 60, 120, 300])
    /// Each once before and once after its time.
    public static let overdue = counter(
        "storekeeper_overdue_purchases_total",
        "Purchases whose period ended, or is about to end, without a notification, by time: past, near.", ["time"])
    /// Answered: Apple took it. Withheld: nothing is sent, for lack of consent or by the policy.
    public static let refundAnswers = counter(
        "storekeeper_refund_answers_total",
        "Refund requests by what became of them: answered, withheld, withdrawn (no consent any more), failed (Apple rejected the answer), missed.",
        ["bundle", "environment", "outcome"])
    /// Kinds: missed, failed.
    public static let refundsUnanswered = gauge(
        "storekeeper_refunds_unanswered",
        "Refund requests of the last day that were to be answered and were not, by kind: missed (12 hours were over), failed (Apple rejected the answer).",
        ["bundle", "environment", "kind"])
    /// 0 where nothing waits.
    public static let refundOldestWaiting = gauge(
        "storekeeper_refund_oldest_waiting_seconds",
        "Time since the oldest answer that Apple has not taken yet was decided.", ["bundle", "environment"])
    /// While they are computed for the first time, and after a rebuild, the age grows.
    public static let insightAge = gauge(
        "storekeeper_insight_age_seconds", "Time since every change of a purchase was in the figures of revenue.")
    /// Cells of the last check.
    public static let insightDifferences = gauge(
        "storekeeper_insight_differences",
        "Figures of monthly revenue that the last check found different from transactions and access periods.")
    /// Before the first check, since the database got figures.
    public static let insightCheckAge = gauge(
        "storekeeper_insight_check_age_seconds",
        "Time since the figures of monthly revenue were compared with transactions and access periods.")
    /// A dependency of the scheduler was unavailable.
    public static let schedulerRetries = counter(
        "storekeeper_scheduler_retries_total", "Failed turns of the scheduler, which are retried.", ["job"])

    // MARK: The process

    /// Tracing never delays the pipeline, so some may be lost.
    public static let spans = counter(
        "storekeeper_trace_spans_total", "Finished spans by outcome: exported, dropped.", ["outcome"])

    /// Of services with a database, once a minute.
    public static let clockDifference = gauge(
        "storekeeper_clock_difference_seconds",
        "By how much the database's clock is ahead of the service's; negative where it is behind.")
    /// Of `scheduler` and `recovery`, once a minute, as of Apple's last answer within a day; absent without one.
    public static let appleClockDifference = gauge(
        "storekeeper_apple_clock_difference_seconds",
        "By how much Apple's clock is ahead of the service's; negative where it is behind.")
    /// The answer of `/readyz`, so that an instance that runs and gets no work is seen.
    public static let ready = gauge(
        "storekeeper_ready", "1 while the process is ready for work, as in /readyz; else 0.")
    /// Always 1; the labels have the information.
    public static let buildInformation = gauge(
        "storekeeper_build_info", "Service and version.", ["service", "version"])

    /// All metrics above: what is not listed here is exposed without help and with buckets for seconds.
    public static let all: [Metric] = [
        ingestRequests, ingestAcknowledgement, ingestInFlight, ingestInFlightLimit, confirmingReplicas, apiAnswers,
        apiUploads, apiAnswer, eventsUndecided, consoleAnswers, consoleAnswer, stageRecords, stageBatch, stageBatchSize,
        stageRetries, workerStalled, batchesFenced, deadLetters, lagRecords, lagSeconds, recordsExpired, topicRestarts,
        rebalances, producerFatal, brokerRoundTrip, producerQueue, revocationAnswers, certificatesRevoked,
        unknownApps, trustReloads, genuineNotifications, version1Notifications, deliveryDelay, ledgerOutcomes,
        webhookToState, sharedAccounts,
        published,
        publisherRetries, webhookRequests, webhooksGivenUp, webhooksWaiting, webhookOldestWaiting, webhookPlaces,
        webhookEndpoints, changeToWebhook, apiRequests, historyItems, recovered, sendAttempts, windowsClosed,
        recoveryRequests,
        recoveryRequestsPostponed, notificationsMissing, incompleteDays, coverageAge, recoveryWindows, historyFetched,
        canaries, canaryTime, overdue, refundAnswers, refundsUnanswered, refundOldestWaiting, insightAge,
        insightDifferences, insightCheckAge, schedulerRetries, spans,
        clockDifference, appleClockDifference, ready, buildInformation,
    ]
}
