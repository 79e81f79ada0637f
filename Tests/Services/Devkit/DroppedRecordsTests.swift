import Kafka
import Testing

@testable import Devkit

struct DroppedRecordsTests {
    private static func lag(committed: Int64?, low: Int64) -> PartitionLag {
        PartitionLag(
            partition: TopicPartition(topic: "t", partition: 0), committed: committed, low: low, end: low + 10)
    }

    @Test func `Record that was read before it was dropped is no loss`() {
        var loss = DroppedRecords()
        loss.measurement(at: [Self.lag(committed: 5, low: 0), Self.lag(committed: 9, low: 7)])
        #expect(loss.records == 0)
    }

    @Test func `Record that was dropped unread is counted once`() {
        var loss = DroppedRecords()
        loss.measurement(at: [Self.lag(committed: nil, low: 0)])
        loss.measurement(at: [Self.lag(committed: 2, low: 5)])
        loss.measurement(at: [Self.lag(committed: 2, low: 5)])
        #expect(loss.records == 3)
        loss.measurement(at: [Self.lag(committed: 6, low: 9)])
        #expect(loss.records == 6)
    }

    @Test func `Group that has read nothing yet loses what is dropped`() {
        var loss = DroppedRecords()
        loss.measurement(at: [Self.lag(committed: nil, low: 4)])
        #expect(loss.records == 4)
    }
}
