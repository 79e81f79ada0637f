import Contracts
import Kafka
import Records

/// Compares the topics with what every release means, whatever the replication factor that setup was given.
package struct TopicProblems: Sendable {
    package let configuration: KafkaConfiguration

    package func sentences() async throws -> [String] {
        let admin = try KafkaAdmin(configuration, patience: .seconds(5), logger: .silent)
        let states = try await admin.states(of: Topics.all.map(\.name))
        return Topics.all.compactMap { route in
            guard let state = states[route.name] else { return Self.missing(route) }
            return Self.sentence(on: route, state)
        }
    }

    package static func missing(_ route: Route) -> String {
        "\(route.name) does not exist: run setup, which creates it; if it was deleted, storekeeper recover --from a time before "
            + "that fetches what it held"
    }

    package static func sentence(on route: Route, _ state: TopicState) -> String? {
        guard state.partitions >= route.partitions else {
            return
                "\(route.name) has \(state.partitions) of \(route.partitions) partitions: the broker may have created it by "
                + "itself; setup --check shows what differs"
        }
        let confirming = state.configuration?["min.insync.replicas"].flatMap { Int($0.value) }
        guard state.replicationFactor > 1, confirming == 1 else { return nil }
        return
            "\(route.name) has \(state.replicationFactor) copies and min.insync.replicas=1: one broker alone may hold what was "
            + "answered 200; use a replication factor of 3"
    }
}
