import ServiceLifecycle

/// The first step of a shutdown: the process is no longer ready, and the deadline begins.
struct Drain: Service {
    let health: Health
    let delay: Duration
    let deadline: ShutdownDeadline
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
        deadline.arm()
        logger.info("Stopping: not ready any more, finishing the work in progress")
        if delay > .zero { try? await Task.sleep(for: delay) }
    }
}
