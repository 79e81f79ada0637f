import ServiceLifecycle

/// The first thing to happen when the process is asked to stop: readiness goes off and the deadline starts.
struct Drain: Service {
    let health: Health
    let delay: Duration
    let deadline: ShutdownDeadline
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
        deadline.arm()
        logger.info("Stopping: not ready any more, settling what is in hand")
        if delay > .zero { try? await Task.sleep(for: delay) }
    }
}
