import Chassis

/// Work that is done again and again until the process is told to stop.
public struct RetryLoop: Sendable {
    private let liveness: LivenessProbe?
    private let clock: any Clock<Duration>
    private let failed: @Sendable (any Error) -> Void

    /// - Parameters:
    ///   - liveness: shows that it goes on; its limit has to hold a turn and the pause after it.
    ///   - failed: told of what went wrong in a turn, which is then tried again.
    public init(
        liveness: LivenessProbe? = nil, clock: any Clock<Duration>, failed: @escaping @Sendable (any Error) -> Void
    ) {
        self.liveness = liveness
        self.clock = clock
        self.failed = failed
    }

    /// Until the process is told to stop, which cuts turns and pauses short.
    /// - Parameter turn: told whether it begins anew, at the start and behind a turn that failed; returns how long to pause
    ///   after it. Behind those that fail the pauses double.
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
