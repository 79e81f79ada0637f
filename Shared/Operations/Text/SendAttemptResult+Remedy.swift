import ServerAPI

extension SendAttemptResult {
    /// What an operator checks after an attempt of Apple's with this result; nil after a success.
    package var remedy: String? {
        switch self {
        case .success: nil
        case .timedOut: "ingest answered too late: see its latency, Kafka, and the load balancer's timeouts"
        case .tlsIssue, .sslIssue:
            "the certificate: it must be valid, complete and of a public authority, with TLS 1.2 or newer"
        case .circularRedirect: "the load balancer redirects in a circle: Apple must reach ingest without a redirect"
        case .noResponse:
            "the connection was accepted and nothing was answered: the load balancer, or ingest is overloaded"
        case .socketIssue: "the connection failed: DNS, the firewall (17.0.0.0/8), and port 443 or one above 1023"
        case .unsupportedCharset:
            "the answer names an unknown character set: something between Apple and ingest changes it"
        case .invalidResponse: "the answer is not HTTP: another program answers at this address"
        case .prematureClose: "the connection was closed too early: limits of the load balancer on bodies and idle time"
        case .unsuccessfulResponseCode:
            "the answer was no 200: 503 means Kafka was unavailable, 404 a wrong path, 413 a limit on bodies in between"
        default: "Apple gave no reason: see storekeeper doctor and the log of the load balancer"
        }
    }
}
