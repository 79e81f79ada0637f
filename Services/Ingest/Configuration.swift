import Chassis
import Pipeline

/// Configuration of ingest.
struct Configuration: KafkaVariables {
    let address = Variable.address(
        "STOREKEEPER_INGEST_ADDRESS", "address that receives Apple's notifications", default: "127.0.0.1:8080")
    let portFile = Variable.path(
        "STOREKEEPER_INGEST_PORT_FILE", "file to write the port to once ingest listens"
    ).optional
    let brokers = Variable.kafkaBrokers
    let maximumBody = Variable.byteCount(
        "STOREKEEPER_INGEST_MAX_BODY", "maximum size of a request body; a larger one is answered 413",
        default: "\(Limits().body >> 10)KiB")
    let maximumBodies = Variable.byteCount(
        "STOREKEEPER_INGEST_MAX_BODIES",
        "bytes that all requests in progress may hold; above it the slowest request is answered 503",
        default: "\(Limits().bodies >> 20)MiB")
    let maximumInFlight = Variable.int(
        "STOREKEEPER_INGEST_MAX_IN_FLIGHT", "maximum number of requests that wait for Kafka; others are answered 503",
        default: "\(Limits().inFlight)", in: 1...1_000_000)
    let maximumConnections = Variable.int(
        "STOREKEEPER_INGEST_MAX_CONNECTIONS", "maximum number of open connections; others wait to be accepted",
        default: "\(Limits().connections)", in: 1...1_000_000)
    let addressShare = Variable.double(
        "STOREKEEPER_INGEST_ADDRESS_SHARE",
        "largest share of all connections, and of all requests in progress, that one client address, or IPv6 network of 64 "
            + "bits, may hold once half of them are in use; behind a proxy with a private address the client is the last entry of X-Forwarded-For",
        default: "\(Limits().addressShare)", in: 0...1)
    let readTimeout = Variable.duration(
        "STOREKEEPER_INGEST_READ_TIMEOUT",
        "timeout for a request to arrive, for a client to read its answer, and for an idle connection",
        default: "10s")
    let acknowledgementDeadline = Variable.duration(
        "STOREKEEPER_INGEST_KAFKA_TIMEOUT",
        "time limit for Kafka to store a notification; then the answer is 503, and Apple retries",
        default: "5s")
    let kafkaSettings = Variable.kafkaSettings
}

extension Settings<Configuration> {
    var limits: Limits {
        Limits(
            body: self.maximumBody, bodies: max(self.maximumBodies, self.maximumBody), inFlight: self.maximumInFlight,
            connections: self.maximumConnections, addressShare: self.addressShare, reading: self.readTimeout,
            acknowledgement: self.acknowledgementDeadline)
    }
}
