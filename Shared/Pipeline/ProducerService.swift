import Chassis
import Contracts
import Kafka

/// A producer for the length of a process: reports its health, and closes it after all senders have stopped.
public struct ProducerService: Service {
    /// Usable until the service has stopped.
    public let producer: Producer
    private let clock: any Clock<Duration>

    /// Does not connect.
    /// - Parameters:
    ///   - service: its topics must exist before anything is sent.
    ///   - messageTimeout: timeout of a record's confirmation.
    ///   - clock: waits between checks of the producer's health.
    /// - Throws: `KafkaConfigurationError`.
    public init(
        _ configuration: KafkaConfiguration, for service: ServiceName, messageTimeout: Duration = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock(), logger: Logger
    ) throws {
        self.clock = clock
        for warning in configuration.warnings() { logger.warning("\(warning)") }
        producer = try Producer(
            configuration, requiring: Topics.required(by: service), messageTimeout: messageTimeout, logger: logger
        ) { statistics in
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
                try? await clock.sleep(for: .seconds(5))
            }
        }
        await producer.close(deadline: .seconds(10))
    }
}
