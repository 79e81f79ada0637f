import Chassis
import Kafka

/// Connects before the first request arrives: otherwise the first record after a connect takes half a second.
public struct WarmUp: Service {
    private let producer: Producer
    private let check: @Sendable () async throws -> Void
    private let reached: @Sendable () -> Void
    private let failed: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - check: what else has to hold.
    ///   - reached: called once, when the broker has answered.
    ///   - failed: called for each attempt that failed; the next follows a second later.
    public init(
        producer: Producer, check: @escaping @Sendable () async throws -> Void = {},
        reached: @escaping @Sendable () -> Void = {},
        failed: @escaping @Sendable (any Error) -> Void
    ) {
        self.producer = producer
        self.check = check
        self.reached = reached
        self.failed = failed
    }

    /// Until the process stops.
    public func run() async throws {
        await cancelWhenGracefulShutdown { await connect() }
        // A service that returns early counts as failed.
        try? await gracefulShutdown()
    }

    private func connect() async {
        while !Task.isCancelled {
            do {
                try await producer.warmUp()
                try await check()
                reached()
                return
            } catch {
                failed(error)
                try? await Task.sleep(for: .seconds(1))
            }
        }
    }
}
