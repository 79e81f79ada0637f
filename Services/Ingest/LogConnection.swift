import Chassis
import Contracts
import Kafka

/// The producer's life: warm before the first request is wanted, flushed after the last one was answered.
struct LogConnection: LongRunning {
    let producer: Producer
    /// Met once the broker has answered; the first record after a connect takes half a second otherwise.
    let isWarm: Requirement
    /// How long to wait for what is still in the producer's queue at the end.
    let flushing: Duration
    let logger: Logger

    func run() async throws {
        try? await cancelWhenGracefulShutdown { try await warmUp() }
        try? await gracefulShutdown()
        await producer.close(deadline: flushing)
    }

    private func warmUp() async throws {
        while !Task.isCancelled {
            do {
                try await producer.warmUp(topic: Topics.received.name)
                isWarm.isMet()
                logger.info("The log is reachable; ready for notifications")
                return
            } catch {
                isWarm.isUnmet("cannot reach the log: \(error)")
                logger.warning("The log cannot be reached yet; trying again", metadata: ["error": "\(error)"])
                try await Task.sleep(for: .seconds(1))
            }
        }
    }
}
