/// Limits of requests. The defaults are here and nowhere else.
struct Limits: Sendable {
    /// Bytes of a request body. The largest of Apple's that we have seen has 40 kB.
    var body = 128 << 10
    /// Bytes of all requests in progress. A request is held twice for a moment, and the producer's copy once more.
    var bodies = 64 << 20
    /// Number of requests that wait for Kafka.
    var inFlight = 4096
    /// Number of open connections.
    var connections = 8192
    /// Share of either for one address, or one IPv6 network, once half are in use.
    var addressShare = 0.125
    /// Time for a request to arrive in full, for a client to read its answer, and for a connection to be idle.
    var reading: Duration = .seconds(10)
    /// Time for Kafka to acknowledge.
    var acknowledgement: Duration = .seconds(5)
    /// Time for one partition to do so, after which another one gets the notification, too; the deduplicator drops the repeat.
    var patience: Duration { min(.seconds(1), acknowledgement / 4) }
}
