import Kafka
import Testing

@testable import Pipeline

@Suite struct LagReporterTests {
    private let partitions = (0..<2).map { TopicPartition(topic: "in", partition: $0) }

    @Test func `LagReporter sets a revoked partition to 0, once`() {
        var report = LagReport()
        let behind = partitions.map { KafkaSource.Lag(partition: $0, records: 4000, seconds: 120) }
        #expect(report.next(behind) == behind)
        #expect(
            report.next([behind[0]]) == [behind[0], KafkaSource.Lag(partition: partitions[1], records: 0, seconds: 0)])
        #expect(report.next([behind[0]]) == [behind[0]])
        #expect(report.next(behind) == behind)
    }
}
