import Chassis
import Pipeline
import Storage

import struct Foundation.UUID

/// Fetches several windows at a time. The limit on requests is the client's; this is how many wait for Apple at once.
struct Fetching: LongRunning {
    let fetch: Fetch
    let apps: [CoverageStore.App]
    let width: Int
    let newHolder: @Sendable () -> UUID
    let pulse: Pulse
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// How long a window that was just opened may wait.
    static let idle: Duration = .seconds(1)
    /// A turn is a page: a call to Apple, and the log.
    static let turnLimit: Duration = .seconds(600)

    func run() async throws {
        await withDiscardingTaskGroup { group in
            for _ in 0..<width {
                group.addTask { await work(as: newHolder()) }
            }
        }
    }

    private func work(as holder: UUID) async {
        var backoff = Backoff()
        var generator = SystemRandomNumberGenerator()
        while !Task.isShuttingDownGracefully, !Task.isCancelled {
            pulse.beat()
            var delay = Self.idle
            do {
                if try await turn(as: holder) { delay = .zero }
                backoff.reset()
            } catch is CancellationError {
                continue
            } catch {
                delay = backoff.next(using: &generator)
                Metric.schedulerRetries.counter("fetch").increment()
                logger.warning("Windows wait, nothing is lost", metadata: ["error": "\(error)", "delay": "\(delay)"])
            }
            guard delay > .zero else { continue }
            try? await cancelWhenGracefulShutdown { [clock, delay] in try await clock.sleep(for: delay) }
        }
    }

    /// Claims a window and fetches it.
    /// - Returns: whether there was one.
    func turn(as holder: UUID) async throws -> Bool {
        let claimed = try await fetch.claims.claim(for: holder, apps: apps, seconds: fetch.leaseSeconds)
        guard let claim = claimed.first else { return false }
        let end = try await fetch.fetch(claim)
        logger.debug("A claim ended", metadata: ["window": "\(claim.id)", "end": "\(end)"])
        return true
    }
}
