import Chassis
import Contracts
import Kafka

/// Connects before the first request is wanted: the first record after a connect takes half a second otherwise.
struct WarmUp: Service {
    let producer: Producer
    /// Met once the broker has answered.
    let isWarm: ReadinessCheck
    let logger: Logger

    func run() async throws {
        await cancelWhenGracefulShutdown { await connect() }
        // A part that returns early counts as failed.
        try? await gracefulShutdown()
    }

    private func connect() async {
        while !Task.isCancelled {
            do {
                try await producer.warmUp()
                isWarm.passes()
                logger.info("The log is reachable; ready for notifications")
                return
            } catch {
                isWarm.fails("cannot reach the log: \(error)")
                logger.warning("The log cannot be reached yet; trying again", metadata: ["error": "\(error)"])
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
