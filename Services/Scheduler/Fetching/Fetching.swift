import Chassis
import Pipeline
import Storage

import struct Foundation.UUID

/// Claims windows and fetches several at a time. The limit on requests is the client's; this is how many wait for Apple
/// at once.
struct Fetching: Service {
    let fetch: Fetch
    let apps: [CoverageStore.App]
    let width: Int
    /// Names this process to the claims.
    let holder: UUID
    let liveness: LivenessProbe
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// How long a window that was just opened may wait.
    static let idle: Duration = .seconds(1)
    /// A turn is a look for windows.
    static let turnLimit: Duration = .seconds(120)

    private enum Event {
        case ended
        case timePassed
    }

    func run() async throws {
        await withTaskGroup(of: Event.self) { group in
            var free = width
            var backoff = Backoff()
            group.addTask { await timePasses() }
            while !Task.isShuttingDownGracefully, !Task.isCancelled {
                liveness.beat()
                let claims = await claim(free, &backoff)
                for claim in claims { group.addTask { await work(on: claim) } }
                free -= claims.count
                guard free == 0 || claims.isEmpty else { continue }
                switch await group.next() {
                case .ended: free += 1
                case .timePassed, nil: group.addTask { await timePasses() }
                }
            }
        }
    }

    /// As many windows as there is room for; none where the database does not answer.
    private func claim(_ limit: Int, _ backoff: inout Backoff) async -> [WindowClaim] {
        guard limit > 0 else { return [] }
        do {
            let claims = try await fetch.claims.claim(
                for: holder, apps: apps, seconds: fetch.leaseSeconds, limit: limit)
            backoff.reset()
            return claims
        } catch {
            var generator = SystemRandomNumberGenerator()
            complain(error)
            await pause(backoff.next(using: &generator))
            return []
        }
    }

    /// What fails here is claimed again when its lease ends, and goes on from its last page.
    private func work(on claim: WindowClaim) async -> Event {
        do {
            let end = try await fetch.fetch(claim)
            logger.debug("A claim ended", metadata: ["window": "\(claim.id)", "end": "\(end)"])
        } catch {
            complain(error)
        }
        return .ended
    }

    private func complain(_ error: any Error) {
        Metric.schedulerRetries.counter("fetch").increment()
        logger.warning("Windows wait, nothing is lost", metadata: ["error": "\(error)"])
    }

    private func timePasses() async -> Event {
        await pause(Self.idle)
        return .timePassed
    }

    /// Cut short by a shutdown.
    private func pause(_ duration: Duration) async {
        try? await cancelWhenGracefulShutdown { [clock] in try await clock.sleep(for: duration) }
    }
}
