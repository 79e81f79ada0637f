import Chassis
import Kafka

/// The variables of a process that talks to Kafka.
public protocol KafkaVariables: VariableTable {
    /// `KAFKA_BOOTSTRAP_SERVERS`.
    var brokers: Variable<String> { get }
    /// Every other `KAFKA_…`: librdkafka's settings by its own names.
    var kafkaSettings: Variable<[String: String]> { get }
}

extension Variable where Value == String {
    /// Where the brokers are.
    public static var kafkaBrokers: Variable {
        .string("KAFKA_BOOTSTRAP_SERVERS", "host:port of one or more Kafka brokers, separated by commas")
    }
}

extension Variable where Value == [String: String] {
    /// What goes to librdkafka as it stands.
    public static var kafkaSettings: Variable {
        .passedThrough(
            prefix: "KAFKA_",
            "librdkafka's settings, KAFKA_SASL_MECHANISM for sasl.mechanism; a name ending in _FILE reads the value from "
                + "that file")
    }
}

extension KafkaVariables {
    /// What librdkafka would refuse, found before anything starts.
    public func problems(in settings: Settings<Self>) -> [ConfigurationProblem] { settings.kafkaProblems }
}

extension Settings where Table: KafkaVariables {
    /// What librdkafka would refuse; for a table that has rules of its own as well.
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
