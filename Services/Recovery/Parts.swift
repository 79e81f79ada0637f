import AppStore
import AppleAccess
import Chassis
import Contracts
import Database
import Kafka
import Pipeline
import Postgres
import Storage

import struct Foundation.UUID

/// The workers of the process: pages of history, dead letters, single customers. Each has a consumer group of its own, and
/// all share one producer.
struct Parts {
    private let context: ServiceContext<Configuration>
    private let newId: @Sendable () -> UUID
    private let producerService: ProducerService

    init(_ context: ServiceContext<Configuration>, newId: @escaping @Sendable () -> UUID) throws {
        self.context = context
        self.newId = newId
        producerService = try ProducerService(try context.settings.kafka(), logger: context.logger)
    }

    /// All parts, in the order of their dependencies.
    /// - Parameter api: nil postpones the requests for single customers.
    func all(asking api: AppleAPI?) async throws -> [any Service] {
        let ready = SchemaReadiness(context, service: "recovery")
        let first: [any Service] = (api.map { [$0] } ?? []) + [ready, producerService, tidy()]
        return first + (try await requests(api)) + (try await letters()) + (try await pages())
    }

    /// A connection for each worker: none of them waits for another.
    private func database() -> PostgresConnection {
        PostgresConnection(context.settings.postgres(for: "recovery"), logger: context.logger)
    }

    private var tracing: Tracing { Tracing(tracer: context.tracer, now: context.clock.now) }

    private func tidy() -> Tidy {
        let database = database()
        return Tidy(
            attempts: SendAttemptStore(database), answers: RecoveryAnswerStore(database),
            rejected: RejectedStore(database), items: RecoveryItemStore(database), leases: LeaseStore(database),
            ages: Tidy.Ages(
                attempts: context.settings.attemptsAge, answers: context.settings.answersAge,
                letters: context.settings.lettersAge),
            newId: newId, now: context.clock.now,
            liveness: context.health.livenessProbe("tidying", limit: Tidy.interval + Tidy.turnLimit),
            logger: context.logger)
    }

    private func pages() async throws -> [any Service] {
        let connection = try await worker("pages", reading: Topics.historyPages.route, limit: 50)
        let items = RecoveryItemStore(database())
        let closing = database()
        let close = CloseWindows(
            items: RecoveryItemStore(closing), windows: RecoveryWindowStore(closing), now: context.clock.now,
            liveness: context.health.livenessProbe("closing windows", limit: CloseWindows.turnLimit),
            logger: context.logger)
        return [close]
            + connection.parts(
                running: Recover(items: items),
                settlement: Republish(
                    items: items, connection: connection, tracing: tracing, now: context.clock.now))
    }

    private func letters() async throws -> [any Service] {
        let connection = try await worker("letters", reading: Topics.rejected.route)
        return connection.parts(
            running: IndexLetters { try await connection.consumer.clusterId() },
            settlement: KeepLetters(rejected: RejectedStore(database()), connection: connection))
    }

    private func requests(_ api: AppleAPI?) async throws -> [any Service] {
        let connection = try await worker("requests", reading: Topics.recoveryRequests.route, limit: 5)
        let database = database()
        let answers = RecoveryAnswerStore(database)
        let again = AskAgain(
            postponed: PostponedRequestStore(database), producer: producerService.producer,
            liveness: context.health.livenessProbe("asking again", limit: AskAgain.turnLimit), logger: context.logger)
        let asking = connection.parts(
            running: Ask(
                clients: api?.clients, items: RecoveryItemStore(database), answers: answers,
                knowledge: Knowledge(database), now: context.clock.now),
            settlement: Answer(
                answers: answers, connection: connection, tracing: tracing, now: context.clock.now))
        return [again] + asking
    }

    /// - Parameter limit: a page has half a megabyte, and a customer several calls: fewer at once than of other records.
    private func worker(_ part: String, reading route: Route, limit: Int? = nil) async throws -> WorkerConnection {
        let most = context.settings.batch
        return try await WorkerConnection(
            context, stage: .recovery, part: part, reading: route, limit: limit.map { min($0, most) },
            sharing: producerService)
    }
}

extension Settings<Configuration> {
    /// How Apple is asked about single customers; nil where there are no keys.
    func appleAPI(clock: APIClock, logger: Logger) throws(ConfigurationProblems) -> AppleAPI? {
        guard let keys = self.apiKeys, let apps = self.apps else {
            logger.notice(
                "Requests for single customers are postponed: STOREKEEPER_API_KEYS_FILE is not set. All else is done.")
            return nil
        }
        let trusted = try Trusted(apps: apps, roots: self.roots ?? [], developmentMode: self.developmentMode)
        return try AppleAPI(
            trusted, keys: keys, url: self.apiURL, limitShare: self.apiLimitShare,
            developmentMode: self.developmentMode, clock: clock)
    }
}
