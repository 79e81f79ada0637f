import Chassis

/// Repeats work until the process stops.
public struct RetryLoop: Sendable {
    private let liveness: LivenessProbe?
    private let clock: any Clock<Duration>
    private let failed: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - liveness: reports that it runs; its limit must cover a turn and the pause after it.
    ///   - failed: called with the error of a turn, which is then retried.
    public init(
        liveness: LivenessProbe? = nil, clock: any Clock<Duration>, failed: @escaping @Sendable (any Error) -> Void
    ) {
        self.liveness = liveness
        self.clock = clock
        self.failed = failed
    }

    /// Until the process stops, which cuts turns and pauses short.
    /// - Parameter turn: gets whether it begins again, at the start and after a turn that failed; returns how long to pause
    ///   after it. After failures the pauses double.
    public func run(_ turn: @escaping @Sendable (_ beginsAnew: Bool) async throws -> Duration) async {
        await cancelWhenGracefulShutdown {
            var backoff = Backoff()
            var generator = SystemRandomNumberGenerator()
            var beginsAnew = true
            while !Task.isCancelled {
                liveness?.beat()
                do {
                    let pause = try await turn(beginsAnew)
                    beginsAnew = false
                    backoff.reset()
                    if pause > .zero { try? await clock.sleep(for: pause) }
                } catch is CancellationError {
                    return
                } catch {
                    beginsAnew = true
                    failed(error)
                    try? await clock.sleep(for: backoff.next(using: &generator))
                }
            }
        }
    }
}
