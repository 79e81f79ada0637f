import ArgumentParser
import Chassis
import Kafka
import Pipeline

/// Where Kafka is: the services' variables, and an option that outweighs the first of them.
struct KafkaOptions: ParsableArguments {
    @Option(
        name: .customLong("kafka-servers"),
        help: "host:port of one or more brokers, by comma. Default: KAFKA_BOOTSTRAP_SERVERS; other KAFKA_ settings too."
    )
    var servers: String?

    /// - Throws: `ConfigurationProblems` where nothing says which brokers, or librdkafka does not know a setting.
    func configuration(in surroundings: Surroundings) throws -> KafkaConfiguration {
        var environment = surroundings.environment.filter { $0.key.hasPrefix("KAFKA_") }
        if let servers { environment["KAFKA_BOOTSTRAP_SERVERS"] = servers }
        return try Settings(Variables(), environment: environment).kafka()
    }

    struct Variables: KafkaVariables {
        let brokers = Variable.kafkaBrokers
        let kafkaSettings = Variable.kafkaSettings
    }
}
