import Contracts
import Kafka
import Testing

@testable import Operations

struct TopicProblemsTests {
    private static func sentence(partitions: Int = 16, copies: Int, confirming: String?) -> String? {
        TopicProblems.sentence(
            on: Topics.received.route,
            TopicState(
                partitions: partitions, replicationFactor: copies,
                configuration: confirming.map {
                    ["min.insync.replicas": TopicState.Setting(value: $0, isOverridden: true)]
                }))
    }

    @Test func `status names topics that the broker created, and copies that need not confirm`() {
        #expect(Self.sentence(partitions: 1, copies: 3, confirming: "2")?.contains("1 of 16 partitions") == true)
        #expect(Self.sentence(copies: 2, confirming: "1")?.contains("min.insync.replicas=1") == true)
        #expect(Self.sentence(copies: 3, confirming: "2") == nil)
        #expect(Self.sentence(copies: 1, confirming: "1") == nil)
        #expect(Self.sentence(copies: 1, confirming: nil) == nil)
    }
}
