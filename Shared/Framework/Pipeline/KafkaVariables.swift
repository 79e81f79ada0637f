import Chassis
import Kafka

/// The variables of a process that uses Kafka.
public protocol KafkaVariables: VariableTable {
    /// `KAFKA_BOOTSTRAP_SERVERS`.
    var brokers: Variable<String> { get }
    /// Every other `KAFKA_…`: librdkafka's settings by its own names.
    var kafkaSettings: Variable<[String: String]> { get }
}

extension Variable where Value == String {
    /// KAFKA_BOOTSTRAP_SERVERS: where the cluster is found.
    public static var kafkaBrokers: Variable {
        .string("KAFKA_BOOTSTRAP_SERVERS", "host:port of one or more Kafka brokers, separated by commas")
    }
}

extension Variable where Value == [String: String] {
    /// Settings passed on to librdkafka.
    public static var kafkaSettings: Variable {
        .passedThrough(
            prefix: "KAFKA_",
            "librdkafka's settings, KAFKA_SASL_MECHANISM for sasl.mechanism; a name ending in _FILE reads the value from "
                + "that file")
    }
}

extension KafkaVariables {
    /// What librdkafka would reject, found before anything starts.
    public func problems(in settings: Settings<Self>) -> [ConfigurationProblem] { settings.kafkaProblems }
}

extension Settings where Table: KafkaVariables {
    /// What librdkafka would reject; for a table with rules of its own.
    public var kafkaProblems: [ConfigurationProblem] {
        do {
            _ = try kafka()
            return []
        } catch let error as KafkaConfigurationError {
            return error.problems.map { ConfigurationProblem($0) }
        } catch {
            return [ConfigurationProblem("The KAFKA_ variables cannot be used: \(error)")]
        }
    }

    /// The configuration of every Kafka client of the process.
    public func kafka() throws -> KafkaConfiguration {
        try KafkaConfiguration(environment: self.kafkaSettings, fallback: self.brokers)
    }
}
