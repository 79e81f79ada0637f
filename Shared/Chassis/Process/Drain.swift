import Foundation
import ServiceLifecycle

/// The first thing to happen when the process is asked to stop: readiness goes off and the deadline starts.
struct Drain: LongRunning {
    let health: Health
    let delay: Duration
    let deadline: Duration
    let logger: Logger

    func run() async throws {
        try? await gracefulShutdown()
        health.drain()
        logger.info("Stopping: not ready any more, settling what is in hand", metadata: ["deadline": "\(deadline)"])
        armDeadline()
        if delay > .zero { try? await Task.sleep(for: delay) }
    }

    /// Ends the process when the deadline is over, whatever hangs.
    ///
    /// On a thread of its own, because a blocked cooperative pool is one of the things that may hang. What was not
    /// settled by then is done again by whoever comes next; correctness does not suffer.
    private func armDeadline() {
        let thread = Thread { [deadline, logger] in
            Thread.sleep(forTimeInterval: deadline / .seconds(1))
            logger.critical("Stopping took longer than STOREKEEPER_SHUTDOWN_DEADLINE, so the process ends itself now")
            exit(ExitCode.failed.rawValue)
        }
        thread.name = "deadline"
        thread.start()
    }
}
