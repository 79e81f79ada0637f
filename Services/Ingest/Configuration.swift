import Chassis
import Kafka

/// What ingest can be told.
struct Configuration: VariableTable {
    let address = Variable.address(
        "STOREKEEPER_INGEST_ADDRESS", "where Apple's notifications are received", default: "127.0.0.1:8080")
    let portFile = Variable.path(
        "STOREKEEPER_INGEST_PORT_FILE", "file to write the port to, once it listens"
    ).optional
    let brokers = Variable.string(
        "KAFKA_BOOTSTRAP_SERVERS", "host:port of one or more brokers of the log, comma-separated")
    let kafka = Variable.passedThrough(
        prefix: "KAFKA_", "any librdkafka setting, its dots as underscores; with _FILE, the file that holds the value")
    let maximumBody = Variable.byteCount(
        "STOREKEEPER_INGEST_MAX_BODY", "largest request body; a larger one is answered 413", default: "1MiB")
    let maximumInFlight = Variable.int(
        "STOREKEEPER_INGEST_MAX_IN_FLIGHT", "requests that may wait for the log at a time; one more is answered 503",
        default: "4096", in: 1...1_000_000)
    let maximumConnections = Variable.int(
        "STOREKEEPER_INGEST_MAX_CONNECTIONS", "connections open at a time; more wait to be accepted",
        default: "8192", in: 1...1_000_000)
    let readTimeout = Variable.duration(
        "STOREKEEPER_INGEST_READ_TIMEOUT", "how long a request may take to arrive, and a connection may be idle",
        default: "10s")
    let acknowledgementDeadline = Variable.duration(
        "STOREKEEPER_INGEST_LOG_DEADLINE",
        "how long to wait for the log; then the answer is 503, so that Apple resends",
        default: "5s")

    func problems(in settings: Settings<Configuration>) -> [ConfigurationProblem] {
        do {
            _ = try settings.kafkaConfiguration
            return []
        } catch let error as KafkaConfigurationError {
            return error.problems.map { ConfigurationProblem($0) }
        } catch {
            return [ConfigurationProblem("\(error)")]
        }
    }
}

extension Settings<Configuration> {
    var kafkaConfiguration: KafkaConfiguration {
        get throws { try KafkaConfiguration(environment: self.kafka, fallback: self.brokers) }
    }

    var limits: Limits {
        Limits(
            body: self.maximumBody, inFlight: self.maximumInFlight, connections: self.maximumConnections,
            reading: self.readTimeout, acknowledgement: self.acknowledgementDeadline)
    }
}
