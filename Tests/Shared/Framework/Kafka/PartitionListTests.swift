import Testing

@testable import Kafka

@Suite struct PartitionListTests {
    @Test func `PartitionList holds all bytes of what a client has committed beside an offset, NUL among them`() {
        let metadata = "7:1 \0" + String(repeating: "ä", count: 200)
        let position = TopicPartitionOffset(topic: "t", partition: 3, offset: 8, metadata: metadata)
        #expect(PartitionList([position]).positions() == [position])
        let none = TopicPartitionOffset(topic: "t", partition: 3, offset: 8)
        #expect(PartitionList([none]).positions() == [none])
    }
}
