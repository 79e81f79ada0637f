import Bootstrap
import Chassis
import Contracts
import Kafka
import Pipeline
import Postgres
import Records
import ServerAPI
import Storage

import struct Foundation.UUID

/// Builds recovery's workers: history pages, dead letters, customer requests. Each has its own consumer group; all
/// share one producer.
struct RecoveryServices {
    private let context: ServiceContext<Configuration>
    private let newId: @Sendable () -> UUID
    private let producerService: ProducerService

    init(_ context: ServiceContext<Configuration>, newId: @escaping @Sendable () -> UUID) throws {
        self.context = context
        self.newId = newId
        producerService = try ProducerService(
            try context.settings.kafka(), for: .recovery, of: Topics.plan, logger: context.logger)
    }

    /// All services, in the order of their dependencies.
    /// - Parameter api: nil postpones customer requests.
    func all(api: AppleAPI?) async throws -> [any Service] {
        let ready = SchemaReadiness(context, service: "recovery", apple: api?.time)
        let first: [any Service] = (api.map { [$0] } ?? []) + [ready, producerService, retentionJob(api?.time)]
        return first + (try await requests(api)) + (try await deadLetters()) + (try await pages())
    }

    /// Each worker has its own connection, so that none waits for another.
    private func database() -> PostgresConnection {
        PostgresConnection(context.settings.postgres(for: "recovery"), logger: context.logger)
    }

    private var tracing: PublishTracing { PublishTracing(tracer: context.tracer, now: context.clock.now) }

    private func retentionJob(_ apple: AppleTime?) -> RetentionJob {
        let database = database()
        return RetentionJob(
            attempts: SendAttemptStore(database), answers: RecoveryAnswerStore(database),
            rejected: RejectedStore(database), items: RecoveryItemStore(database), leases: LeaseStore(database),
            clocks: ClockCheck(connection: database, now: context.clock.unmoved, comparingWith: apple),
            ages: RetentionJob.Ages(
                attempts: context.settings.attemptsAge, answers: context.settings.answersAge,
                deadLetters: context.settings.deadLettersAge),
            newId: newId, now: context.clock.now,
            liveness: context.health.livenessProbe(
                "retention job", limit: RetentionJob.interval + RetentionJob.turnLimit),
            logger: context.logger)
    }

    private func pages() async throws -> [any Service] {
        let connection = try await worker("pages", reading: Topics.historyPages.route, limit: 50)
        let items = RecoveryItemStore(database())
        let closing = database()
        let close = CloseWindows(
            items: RecoveryItemStore(closing), windows: RecoveryWindowStore(closing), now: context.clock.now,
            liveness: context.health.livenessProbe("window closing", limit: CloseWindows.turnLimit),
            logger: context.logger)
        return [close]
            + connection.services(
                running: ComparePages(items: items),
                settlement: RepublishMissing(
                    items: items, connection: connection, tracing: tracing, now: context.clock.now))
    }

    private func deadLetters() async throws -> [any Service] {
        let connection = try await worker("dead-letters", reading: Topics.rejected.route)
        return connection.services(
            running: IndexDeadLetters(
                cluster: { try await connection.consumer.clusterId() }, quota: HourlyQuota(now: context.clock.now)),
            settlement: StoreDeadLetterIndex(rejected: RejectedStore(database()), connection: connection))
    }

    private func requests(_ api: AppleAPI?) async throws -> [any Service] {
        let connection = try await worker("requests", reading: Topics.recoveryRequests.route, limit: 5)
        let database = database()
        let answers = RecoveryAnswerStore(database)
        let again = RetryPostponedRequests(
            postponed: PostponedRequestStore(database), producer: producerService.producer,
            liveness: context.health.livenessProbe(
                "retry of postponed requests", limit: RetryPostponedRequests.turnLimit),
            logger: context.logger)
        let asking = connection.services(
            running: FetchCustomerHistory(
                clients: api?.clients, items: RecoveryItemStore(database), answers: answers,
                knownState: KnownState(database),
                now: { [clock = context.clock, time = api?.time] in clock.now(notAheadOf: time) }),
            settlement: StoreCustomerHistory(
                answers: answers, connection: connection, tracing: tracing, now: context.clock.now))
        return [again] + asking
    }

    /// - Parameter limit: smaller for pages, which have half a megabyte, and for customers, which take several calls.
    private func worker(_ part: String, reading route: Route, limit: Int? = nil) async throws -> WorkerConnection {
        let most = context.settings.batch
        return try await WorkerConnection(
            context, stage: .recovery, part: part, reading: route, of: Topics.plan, limit: limit.map { min($0, most) },
            sharing: producerService)
    }
}

extension Settings<Configuration> {
    /// The client for customer requests; nil without keys.
    func appleAPI(clock: APIClock, logger: Logger) throws -> AppleAPI? {
        guard let keys = self.apiKeys, let apps = self.apps else {
            logger.notice(
                "STOREKEEPER_APP_STORE_API_KEYS_FILE is not set; requests for a customer's history wait, everything else runs"
            )
            return nil
        }
        let watcher = try TrustWatcher(
            apps: apps, roots: self.roots ?? [], developmentMode: self.developmentMode, logger: logger)
        return try AppleAPI(
            watcher, keys: keys, url: self.apiURL, developmentMode: self.developmentMode, clock: clock,
            limits: SharedAPILimits.each(
                PostgresConnection(self.postgres(for: "recovery"), logger: logger), share: self.apiLimitShare,
                urgency: .background, clock: clock, logger: logger))
    }
}
