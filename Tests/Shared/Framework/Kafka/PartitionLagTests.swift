import Testing

@testable import Kafka

struct PartitionLagTests {
    @Test(
        arguments: [
            (nil, 10, 20), (0, 10, 20), (10, 10, 20), (25, 25, 5), (30, 30, 0), (31, 30, 0), (Int64.max, 30, 0),
        ] as [(Int64?, Int64, Int64)])
    func `Position of a group is within the partition, whatever a client has committed`(
        committed: Int64?, settled: Int64, records: Int64
    ) {
        let lag = PartitionLag(
            partition: TopicPartition(topic: "t", partition: 0), committed: committed, low: 10, end: 30)
        #expect(lag.settled == settled && lag.records == records)
    }
}
