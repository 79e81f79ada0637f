import Chassis
import Pipeline

/// What ingest can be told.
struct Configuration: KafkaVariables {
    let address = Variable.address(
        "STOREKEEPER_INGEST_ADDRESS", "where Apple's notifications are received", default: "127.0.0.1:8080")
    let portFile = Variable.path(
        "STOREKEEPER_INGEST_PORT_FILE", "file to write the port to, once it listens"
    ).optional
    let brokers = Variable.kafkaBrokers
    let maximumBody = Variable.byteCount(
        "STOREKEEPER_INGEST_MAX_BODY", "largest request body; a larger one is answered 413",
        default: "\(Limits().body >> 10)KiB")
    let maximumBodies = Variable.byteCount(
        "STOREKEEPER_INGEST_MAX_BODIES",
        "bytes that all requests in progress may hold; beyond it the slowest is answered 503",
        default: "\(Limits().bodies >> 20)MiB")
    let maximumInFlight = Variable.int(
        "STOREKEEPER_INGEST_MAX_IN_FLIGHT", "requests that may wait for the log at a time; one more is answered 503",
        default: "\(Limits().inFlight)", in: 1...1_000_000)
    let maximumConnections = Variable.int(
        "STOREKEEPER_INGEST_MAX_CONNECTIONS", "connections open at a time; more wait to be accepted",
        default: "\(Limits().connections)", in: 1...1_000_000)
    let addressShare = Variable.double(
        "STOREKEEPER_INGEST_ADDRESS_SHARE",
        "share of connections, and of requests in progress, that one address may hold once half of them are taken; "
            + "behind a proxy with a private address by the last entry of X-Forwarded-For",
        default: "\(Limits().addressShare)", in: 0...1)
    let readTimeout = Variable.duration(
        "STOREKEEPER_INGEST_READ_TIMEOUT",
        "how long a request may take to arrive, a client to read its answer, and a connection to be idle",
        default: "10s")
    let acknowledgementDeadline = Variable.duration(
        "STOREKEEPER_INGEST_LOG_DEADLINE",
        "how long to wait for the log; then the answer is 503, so that Apple resends",
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
