import Chassis
import Contracts
import Kafka

import struct Foundation.Date

/// Kafka as one worker uses it: a consumer of one topic, a producer, and what watches both.
public struct WorkerConnection: Sendable {
    /// A member of the service's group.
    public let consumer: Consumer
    /// Writes outputs and dead letters.
    public var producer: Producer { keeper.producer }
    /// Makes the dead letters of the service.
    public let refusals: Refusals
    private let keeper: ProducerKeeper
    private let stage: Service
    private let limit: Int
    private let poison: PoisonLimit
    private let monitor: WorkerMonitor
    private let now: @Sendable () -> Date
    private let logger: Logger

    /// Subscribes; the partitions come when the worker runs.
    /// - Parameters:
    ///   - stage: the service.
    ///   - route: the topic it reads.
    ///   - offsetReset: what to do where a position is not in the log any more.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ context: ServiceContext<some WorkerVariables>, stage: Service, reading route: Route,
        offsetReset: Consumer.OffsetReset = .earliest
    ) async throws {
        let kafka = try context.settings.kafka()
        consumer = try Consumer(kafka, group: stage.group, offsetReset: offsetReset, logger: context.logger)
        keeper = try ProducerKeeper(kafka, logger: context.logger)
        refusals = Refusals(stage: stage, build: BuildInformation.version, now: context.clock.now)
        monitor = WorkerMonitor(
            stage: stage, health: context.health, clock: context.clock, tracer: context.tracer, logger: context.logger)
        poison = context.settings.poisonLimit
        limit = context.settings.batch
        now = context.clock.now
        logger = context.logger
        self.stage = stage
        try await consumer.subscribe(to: [route.name])
    }

    /// The parts of the process, in the order of their dependencies.
    /// - Parameter starting: where a partition is read from.
    public func parts<S: Stage>(
        running stage: S, settlement: any Settlement<S>,
        startingAt starting: any StartingPositions = CommittedPositions()
    ) -> [any LongRunning] where S.Input: TopicMessage {
        let source = KafkaSource(consumer, for: self.stage, startingAt: starting, limit: limit, logger: logger)
        let worker = Worker(
            warmUp: { [producer] in try await producer.warmUp(topic: Topics.rejected.name) }, source: source,
            stage: stage, settlement: settlement, poison: poison, monitor: monitor, logger: logger)
        return [keeper, LagReporter(source, stage: self.stage, now: now), worker]
    }
}
