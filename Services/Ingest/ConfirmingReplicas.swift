import Chassis
import Contracts
import Kafka

/// How many replicas confirm a notification before ingest answers 200, by the topic's `min.insync.replicas`.
///
/// One that could be two is a mistake that `setup` corrects, and ingest is not ready before: a 200 is to survive the loss of a
/// broker. Where there are too few brokers for more, an alert says so.
struct ConfirmingReplicas: Sendable {
    let admin: KafkaAdmin
    let logger: Logger

    /// - Throws: ``OneReplicaConfirms``; `KafkaError` where the brokers do not answer.
    func check() async throws {
        let topic = Topics.received.name
        do {
            guard let state = try await admin.states(of: [topic])[topic], let number = Self.number(state) else {
                return
            }
            Metric.confirmingReplicas.gauge().record(number)
            if number == 1, state.replicationFactor > 2 {
                throw OneReplicaConfirms(topic: topic, copies: state.replicationFactor)
            }
        } catch let error as KafkaError where error.meaning == .rejected {
            logger.notice(
                "The brokers do not tell min.insync.replicas; `storekeeper acls` prints the missing permission",
                metadata: ["error": "\(error)"])
        }
    }

    /// nil where the broker does not tell, as the development broker.
    static func number(_ state: TopicState) -> Int? {
        state.configuration?["min.insync.replicas"].flatMap { Int($0.value) }.map { min($0, state.replicationFactor) }
    }
}

/// A broker that fails could take notifications with it that were answered 200.
struct OneReplicaConfirms: Error, CustomStringConvertible {
    var topic: String
    var copies: Int

    var description: String {
        "\(topic) has \(copies) copies and min.insync.replicas=1, so that one broker alone may hold what was answered 200; run setup"
    }
}
