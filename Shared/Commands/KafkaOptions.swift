import ArgumentParser
import Chassis
import Kafka
import Pipeline

/// Kafka: the services' variables, the brokers overridden by an option.
package struct KafkaOptions: ParsableArguments {
    @Option(
        name: .customLong("kafka-servers"),
        help: "Brokers, host:port separated by commas (default: KAFKA_BOOTSTRAP_SERVERS)."
    )
    package var servers: String?

    package init() {}

    /// - Throws: `ConfigurationProblems` where no broker is configured, or librdkafka does not know a setting.
    package func configuration(in context: CommandContext) throws -> KafkaConfiguration {
        var environment = context.environment.filter { $0.key.hasPrefix("KAFKA_") }
        if let servers { environment["KAFKA_BOOTSTRAP_SERVERS"] = servers }
        return try Settings(Variables(), environment: environment).kafka()
    }

    package struct Variables: KafkaVariables {
        package let brokers = Variable.kafkaBrokers
        package let kafkaSettings = Variable.kafkaSettings

        package init() {}
    }
}

extension RecordSeal {
    /// For what a command writes to Kafka, by the services' variable.
    package init(_ context: CommandContext) throws(ConfigurationProblems) {
        try self.init(file: context.environment[Variable<String?>.recordKeysName])
    }
}
