/// What a request may cost us. The defaults stand here and nowhere else.
struct Limits: Sendable {
    /// Bytes of a request body. Apple's largest known to us have 40 kB.
    var body = 128 << 10
    /// Bytes of all requests in hand. A request is held twice for a moment, and the producer's copy once more.
    var bodies = 64 << 20
    /// Requests that wait for the log at a time.
    var inFlight = 4096
    /// Connections open at a time.
    var connections = 8192
    /// Share of either that one address may hold once half are taken.
    var addressShare = 0.125
    /// Time for a request to arrive in full, for a client to read its answer, and for a connection to be idle.
    var reading: Duration = .seconds(10)
    /// Time for the log to acknowledge.
    var acknowledgement: Duration = .seconds(5)
}
