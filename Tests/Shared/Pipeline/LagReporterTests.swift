import Kafka
import Testing

@testable import Pipeline

@Suite struct LagReporterTests {
    private let partitions = (0..<2).map { TopicPartition(topic: "in", partition: $0) }

    @Test func `a partition that was taken away is told to be at its end, once`() {
        var report = LagReport()
        let behind = partitions.map { KafkaSource.Lag(partition: $0, records: 4000, seconds: 120) }
        #expect(report.next(behind) == behind)
        #expect(
            report.next([behind[0]]) == [behind[0], KafkaSource.Lag(partition: partitions[1], records: 0, seconds: 0)])
        #expect(report.next([behind[0]]) == [behind[0]])
        #expect(report.next(behind) == behind)
    }
}
