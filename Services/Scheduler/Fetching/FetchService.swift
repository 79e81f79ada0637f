import Chassis
import Pipeline
import Storage

import struct Foundation.UUID

/// Claims windows and fetches several in parallel. The API client enforces Apple's rate limit.
struct FetchService: Service {
    let fetch: WindowFetch
    /// Apps with an API key at the moment.
    let apps: @Sendable () -> [CoverageStore.App]
    let width: Int
    /// Identifies this process as claimant.
    let holder: UUID
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Poll interval for new windows.
    static let idle: Duration = .seconds(1)
    /// Limit for one poll.
    static let turnLimit: Duration = .seconds(120)

    private enum Event {
        case ended
        case pollIsDue
    }

    func run() async throws {
        await withTaskGroup(of: Event.self) { group in
            var free = width
            var backoff = Backoff()
            group.addTask { await sleepUntilNextPoll() }
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                liveness.beat()
                let claims = await claim(free, &backoff)
                for claim in claims { group.addTask { await work(on: claim) } }
                free -= claims.count
                guard free == 0 || claims.isEmpty else { continue }
                switch await group.next() {
                case .ended: free += 1
                case .pollIsDue, nil: group.addTask { await sleepUntilNextPoll() }
                }
            }
        }
    }

    /// The number of slots that only regular checks take. Days of many apps, or half a year in parts, would otherwise take all for as
    /// long as they last, while the state of an app that is followed grows old. Few, because the others have to reach Apple's limit.
    private var reserve: Int { min(width - 1, max(1, width / 8)) }

    /// Claims as many windows as there are free slots for them; none while the database is unavailable.
    private func claim(_ free: Int, _ backoff: inout Backoff) async -> [WindowClaim] {
        guard free > 0 else { return [] }
        let isReserve = free <= reserve
        do {
            let claims = try await fetch.claims.claim(
                for: holder, apps: apps(), seconds: fetch.leaseSeconds, limit: isReserve ? free : free - reserve,
                reason: isReserve ? .failures : nil)
            backoff.reset()
            return claims
        } catch {
            var generator = SystemRandomNumberGenerator()
            logFailure(error)
            await pause(backoff.next(using: &generator))
            return []
        }
    }

    /// A failed window is claimed again when its lease expires, and continues from its last page.
    private func work(on claim: WindowClaim) async -> Event {
        do {
            let end = try await fetch.fetch(claim)
            logger.debug("Window claim ended", metadata: ["window": "\(claim.id)", "end": "\(end)"])
        } catch {
            logFailure(error)
        }
        return .ended
    }

    private func logFailure(_ error: any Error) {
        Metric.schedulerRetries.counter("fetch").increment()
        logger.warning("Could not claim or fetch history windows; retrying", metadata: ["error": "\(error)"])
    }

    private func sleepUntilNextPoll() async -> Event {
        await pause(Self.idle)
        return .pollIsDue
    }

    /// Cancelled by a shutdown.
    private func pause(_ duration: Duration) async {
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: duration) }
    }
}
