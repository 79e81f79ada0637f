import Contracts
import Development
import Kafka
import Logging
import Testing

@testable import Ingest

@Suite struct ConfirmingReplicasTests {
    private func state(copies: Int, confirming: String?) -> TopicState {
        TopicState(
            partitions: 16, replicationFactor: copies,
            configuration: confirming.map {
                ["min.insync.replicas": TopicState.Setting(value: $0, isOverridden: true)]
            })
    }

    @Test func `ConfirmingReplicas is what the topic demands, and not more than it has copies`() {
        #expect(ConfirmingReplicas.number(state(copies: 3, confirming: "2")) == 2)
        #expect(ConfirmingReplicas.number(state(copies: 3, confirming: "1")) == 1)
        #expect(ConfirmingReplicas.number(state(copies: 1, confirming: "2")) == 1)
        #expect(ConfirmingReplicas.number(state(copies: 3, confirming: nil)) == nil)
    }

    @Test func `ConfirmingReplicas lets a broker pass that does not tell`() async throws {
        let broker = try DevelopmentBroker(topics: [(Topics.received.name, 64)])
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let admin = try KafkaAdmin(broker.configuration, patience: .seconds(5), logger: logger)
        try await ConfirmingReplicas(admin: admin, logger: logger).check()
    }

    @Test func `OneReplicaConfirms says what is wrong and what to run`() {
        let text = "\(OneReplicaConfirms(topic: "notifications.received", copies: 3))"
        #expect(text.hasPrefix("notifications.received has 3 copies and min.insync.replicas=1"))
        #expect(text.hasSuffix("run setup"))
    }
}
