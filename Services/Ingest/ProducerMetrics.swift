import Chassis
import Kafka

/// Shows what the producer tells about itself every ten seconds.
struct ProducerMetrics: Sendable {
    private let queue = Metric.producerQueue.gauge()

    func record(_ statistics: KafkaStatistics) {
        queue.record(statistics.queuedRecords)
        for broker in statistics.brokers { Metric.brokerRoundTrip.gauge(broker.name).record(broker.roundTrip) }
    }
}
