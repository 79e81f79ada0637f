import Chassis
import Kafka
import Records
import Synchronization

/// A producer for the length of a process: reports its health, and closes it after all senders have stopped.
public struct ProducerService: Service {
    /// Usable until the service has stopped.
    public let producer: Producer
    private let reach: BrokerReach

    /// `2 of 3 brokers reachable, not kafka-2:9092/2`; nil where all are. At most twenty seconds old.
    public var unreachableBrokers: String? { reach.unreachable }

    /// Does not connect.
    /// - Parameters:
    ///   - service: its topics must exist before anything is sent.
    ///   - topics: of the deployment.
    ///   - messageTimeout: timeout of a record's confirmation.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, for service: ServiceName, of topics: TopicPlan,
        messageTimeout: Duration = .seconds(60), logger: Logger
    ) throws {
        let reach = BrokerReach(logger: logger)
        self.reach = reach
        for warning in configuration.warnings() { logger.warning("\(warning)") }
        producer = try Producer(
            configuration, requiring: topics.required(by: service), messageTimeout: messageTimeout, logger: logger
        ) { statistics in
            reach.note(statistics.unreachableBrokers)
            Metric.producerQueue.gauge().record(statistics.queuedRecords)
            for broker in statistics.brokers {
                Metric.brokerRoundTrip.gauge(broker.name).record(broker.roundTrip)
            }
        }
    }

    /// Until the process stops; then waits for records in flight.
    public func run() async throws {
        let counter = Metric.producerFatal.counter()
        await cancelWhenGracefulShutdown {
            var counted = 0
            while !Task.isCancelled {
                counter.increment(by: producer.fatalErrors - counted)
                counted = producer.fatalErrors
                try? await Task.sleep(for: .seconds(5))
            }
        }
        await producer.close(deadline: .seconds(10))
    }
}

/// Which brokers a producer does not reach: once two statistics in a row say so, because a connection may just be under way.
final class BrokerReach: Sendable {
    private let state = Mutex((last: String?.none, unreachable: String?.none))
    private let logger: Logger

    init(logger: Logger) { self.logger = logger }

    var unreachable: String? { state.withLock(\.unreachable) }

    func note(_ seen: String?) {
        let change: String?? = state.withLock { state in
            defer { state.last = seen }
            guard seen == nil || state.last != nil, state.unreachable != seen else { return nil }
            state.unreachable = seen
            return .some(seen)
        }
        switch change {
        case .some(.some(let sentence)):
            logger.warning(
                "Kafka brokers unreachable; writing to the others and retrying", metadata: ["brokers": "\(sentence)"])
        case .some(.none): logger.notice("All Kafka brokers reachable again")
        case .none: break
        }
    }
}
