/// What a request may cost us.
struct Limits: Sendable {
    /// Bytes of a request body.
    var body = 1 << 20
    /// Requests that wait for the log at a time.
    var inFlight = 4096
    /// Connections open at a time.
    var connections = 8192
    /// Time for a request to arrive in full, and for a connection to be idle.
    var reading: Duration = .seconds(10)
    /// Time for the log to acknowledge.
    var acknowledgement: Duration = .seconds(5)
}
