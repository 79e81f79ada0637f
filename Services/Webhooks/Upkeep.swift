import Chassis
import Pipeline
import Storage
import Synchronization
import WebhookDelivery

import struct Foundation.Date

/// Creates and drops the days of the log, and publishes what waits.
struct Upkeep: Service {
    let retention: WebhookRetention
    let endpoints: WebhookEndpointStore
    let now: @Sendable () -> Date
    let logger: Logger
    var clock: any Clock<Duration> = ContinuousClock()

    /// Until the process shuts down.
    func run() async throws {
        let rounds = Mutex(0)
        let published = Mutex<Set<String>>([])
        await RetryLoop(clock: clock) { [logger] error in
            logger.warning("Could not maintain the log of webhooks; retrying", metadata: ["error": "\(error)"])
        }.run { [self] beginsAnew in
            // First: days that cannot be made or dropped, as during a dump, must not stop what alerts look at.
            let names = try await publish(after: published.withLock { $0 })
            published.withLock { $0 = names }
            // At the start, after failures, and every hour.
            let round = rounds.withLock { round in
                round += 1
                return round
            }
            if beginsAnew || round % 240 == 0 { try await keep() }
            return .seconds(15)
        }
    }

    func keep() async throws {
        let dropped = try await retention.run(at: now())
        if dropped > 0 { logger.info("Days of the log of webhooks dropped", metadata: ["partitions": "\(dropped)"]) }
    }

    /// One series for each endpoint: those of a deployment are few.
    /// - Parameter before: the endpoints of the last time; the series of those that were removed since end.
    /// - Returns: the endpoints.
    func publish(after before: Set<String>) async throws -> Set<String> {
        let (entries, waiting) = (try await endpoints.all(), try await endpoints.waiting())
        let moment = now()
        for entry in entries {
            let name = entry.endpoint.id.uuidString.lowercased()
            let own = waiting[entry.endpoint.id]
            Metric.webhooksWaiting.gauge(name).record(own?.count ?? 0)
            Metric.webhookOldestWaiting.gauge(name).record(
                own?.oldest.map { max(0, moment.timeIntervalSince($0)) } ?? 0)
            let state = entry.shownState
            for each in Self.states { Metric.webhookEndpoints.gauge(name, each).record(each == state ? 1 : 0) }
        }
        let names = Set(entries.map { $0.endpoint.id.uuidString.lowercased() })
        for name in before.subtracting(names) {
            Metric.webhooksWaiting.gauge(name).destroy()
            Metric.webhookOldestWaiting.gauge(name).destroy()
            for each in Self.states { Metric.webhookEndpoints.gauge(name, each).destroy() }
        }
        return names
    }

    private static let states = ["testing", "active", "failing", "paused", "disabled"]
}
