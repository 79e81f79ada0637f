import Kafka

/// One property in which a topic differs from the expected settings.
struct TopicDifference: Equatable {
    /// What repairs it.
    enum Remedy: Equatable {
        /// Setup sets it.
        case set(String)
        /// An operator runs this; setup would have to move data or keys.
        case command(String)
    }

    var topic: String
    var setting: String
    var expected: String
    var found: String
    var remedy: Remedy

    /// All differences, in a stable order. More than expected is an operator's decision, and no difference.
    static func all(_ specification: TopicSpecification, _ state: TopicState) -> [TopicDifference] {
        let topic = specification.name
        var differences: [TopicDifference] = []
        func note(_ setting: String, _ expected: String, _ found: String, _ remedy: Remedy) {
            differences.append(
                TopicDifference(topic: topic, setting: setting, expected: expected, found: found, remedy: remedy))
        }
        if state.partitions < specification.partitions {
            note(
                "partitions", "\(specification.partitions)", "\(state.partitions)",
                .command(
                    "kafka-topics.sh --alter --topic \(topic) --partitions \(specification.partitions), or --delete if it is "
                        + "empty and setup again"))
        }
        if state.replicationFactor < specification.replicationFactor {
            note(
                "replication factor", "\(specification.replicationFactor)", "\(state.replicationFactor)",
                .command("kafka-reassign-partitions.sh for \(topic), or --delete if it is empty and setup again"))
        }
        guard let configuration = state.configuration else { return differences }
        for (name, expected) in specification.configuration.sorted(by: { $0.key < $1.key }) {
            let found = configuration[name]?.value ?? "unknown"
            guard !isMet(name, expected: expected, found: found) else { continue }
            note(name, expected, found, .set(expected))
        }
        return differences
    }

    /// -1 is "unlimited" where Kafka has a limit.
    private static func isMet(_ name: String, expected: String, found: String) -> Bool {
        guard ["retention.ms", "min.insync.replicas"].contains(name), let expected = Int64(expected),
            let found = Int64(found)
        else { return expected == found }
        return found >= expected || found == -1
    }

    /// The columns of a table.
    var row: [String] {
        let remedy =
            switch remedy {
            case .set: "setup sets it"
            case .command(let command): command
            }
        return [topic, setting, expected, found, remedy]
    }
}
