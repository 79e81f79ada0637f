import Chassis
import Kafka
import Records

import struct Foundation.Date

/// A worker's use of Kafka: a consumer of one topic, a producer, and their monitoring.
public struct WorkerConnection: Sendable {
    /// A member of the service's group.
    public let consumer: Consumer
    /// Of the same group, and no member of it.
    private let reader: Consumer
    /// Writes outputs and dead letters.
    public var producer: Producer { producerService.producer }
    /// Creates the service's dead letters.
    let rejections: Rejections
    /// Writes them, for a settlement whose effects are not in Kafka.
    public let deadLetters: DeadLetterWriter
    /// Added to what the service writes, and required of what it reads.
    public let seal: RecordSeal
    private let producerService: ProducerService
    private let isProducerShared: Bool
    private let worker: String
    private let route: Route
    private let limit: Int
    private let rejectionLimit: RejectionLimit
    private let monitor: WorkerMonitor
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Subscribes; the partitions are assigned when the worker runs.
    /// - Parameters:
    ///   - stage: the service.
    ///   - part: one of several workers of the service, each with a group and metrics of its own; nil where there is one.
    ///   - route: the topic it reads.
    ///   - topics: of the deployment.
    ///   - limit: maximum number of records in a batch; nil is the configured one.
    ///   - producerService: the producer that several workers share, and that the process runs itself; nil creates one.
    /// - Throws: `KafkaConfigurationError`, `ConfigurationProblems`.
    public init(
        _ context: ServiceContext<some WorkerVariables>, stage: ServiceName, part: String? = nil, reading route: Route,
        of topics: TopicPlan, limit: Int? = nil, sharing producerService: ProducerService? = nil
    ) async throws {
        let kafka = try context.settings.kafka()
        seal = try RecordSeal(file: context.settings.recordKeys)
        let suffix = part.map { ".\($0)" } ?? ""
        // A position that is not in the partition is looked at before reading continues.
        consumer = try Consumer(kafka, group: stage.group + suffix, offsetReset: .error, logger: context.logger)
        var quiet = context.logger
        quiet.logLevel = .critical
        reader = try Consumer(kafka.fetchingLittle, group: stage.group + suffix, logger: quiet)
        self.producerService =
            try producerService ?? ProducerService(kafka, for: stage, of: topics, logger: context.logger)
        isProducerShared = producerService != nil
        worker = stage.name + suffix
        rejections = Rejections(
            to: topics.deadLetters, stage: stage, build: BuildInformation.version, now: context.clock.now)
        monitor = WorkerMonitor(
            worker: worker, health: context.health, clock: context.clock, tracer: context.tracer,
            logger: context.logger)
        rejectionLimit = context.settings.rejectionLimit
        self.limit = limit ?? context.settings.batch
        self.route = route
        now = context.clock.now
        logger = context.logger
        deadLetters = DeadLetterWriter(of: consumer, to: self.producerService.producer, rejections)
        if !seal.isOn, route.isSealed {
            logger.warning(
                "STOREKEEPER_RECORD_KEYS_FILE is not set: every user who can write to Kafka can write state",
                metadata: ["topic": "\(route.name)"])
        }
        try await consumer.subscribe(to: [route.name])
    }

    /// How often partitions were revoked since the start: what is remembered about records in them is another member's now.
    public var revocations: Int { get async { await consumer.revocations } }

    /// The services of the process, in the order of their dependencies.
    /// - Parameter starting: where a partition is read from; nil is the group's committed position.
    public func services<S: Stage>(
        running stage: S, settlement: any Settlement<S>,
        startingAt starting: (any StartingPositions)? = nil
    ) -> [any Service] where S.Input: TopicMessage {
        let source = KafkaSource(
            consumer, reader: reader, for: worker, startingAt: starting ?? CommittedPositions(consumer), limit: limit,
            of: route.name, now: now, logger: logger)
        let loop = Worker(
            warmUp: { [producer] in try await producer.warmUp() }, source: source,
            stage: stage, settlement: settlement, rejectionLimit: rejectionLimit, seal: seal,
            monitor: monitor, logger: logger)
        let own: [any Service] = [
            LagReporter(source, worker: worker, progress: monitor.progress, now: now), loop,
        ]
        return isProducerShared ? own : [producerService] + own
    }
}
