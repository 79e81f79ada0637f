import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Asks about purchases whose time passed and of which nothing was heard since: what no outage explains.
struct OverdueWatch: Sendable {
    let store: OverdueStore
    let apps: [CoverageStore.App]
    let producer: Producer
    /// Apple renews within a day before the end and may take its time with the notification.
    let patience: TimeInterval
    /// Purchases in a turn at most; each costs recovery a few requests.
    let budget: Int
    let now: @Sendable () -> Date

    /// What is noticed is a row before it is a message: a crash in between asks twice and forgets nothing.
    func turn() async throws {
        let count = try await store.notice(
            apps, endedBefore: now().addingTimeInterval(-patience), limit: budget, at: now())
        Metric.overdue.counter().increment(by: count)
        while true {
            let waiting = try await store.waiting(limit: 500)
            guard !waiting.isEmpty else { return }
            try await producer.send(waiting.map { ProducerRecord(Topics.recoveryRequests, $0.message) })
            try await store.markPublished(waiting, at: now())
        }
    }
}
