import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Asks about purchases whose time passed and of which nothing was heard since, and then about those whose time is about to
/// pass and that should have been renewed by now: what no outage explains.
struct OverdueWatch: Sendable {
    let store: OverdueStore
    let apps: [CoverageStore.App]
    let producer: Producer
    /// Apple renews within a day before the end and may take its time with the notification.
    let patience: TimeInterval
    /// How long before its end a purchase that is not renewed yet is asked about; 0 asks about none.
    let foresight: TimeInterval
    /// Purchases in a turn at most; each costs recovery a few requests.
    let budget: Int
    let now: @Sendable () -> Date
    let logger: Logger

    /// What is noticed is a row before it is a message: a crash in between asks twice and forgets nothing.
    func turn() async throws {
        var each = EachApp("overdue", logger: logger)
        var left = budget
        for app in inTurn where left > 0 {
            try await each.attempt(app) {
                let ended = now().addingTimeInterval(-patience)
                let count = try await store.notice(of: app, endedBefore: ended, limit: left, at: now())
                Metric.overdue.counter("past").increment(by: count)
                left -= count
            }
        }
        // Only what nobody needs whose time is over already.
        for app in inTurn where left > 0 && foresight > 0 {
            try await each.attempt(app) {
                let ending = now().addingTimeInterval(foresight)
                let count = try await store.notice(of: app, endingBefore: ending, limit: left, at: now())
                Metric.overdue.counter("near").increment(by: count)
                left -= count
            }
        }
        try await publish()
        try each.tell()
    }

    /// Another one is the first in each minute, so that none takes the whole budget for long.
    private var inTurn: [CoverageStore.App] {
        let first = Int(now().timeIntervalSince1970 / 60) % max(1, apps.count)
        return Array(apps[first...] + apps[..<first])
    }

    private func publish() async throws {
        while true {
            let waiting = try await store.waiting(limit: 500)
            guard !waiting.isEmpty else { return }
            try await producer.send(waiting.map { ProducerRecord(Topics.recoveryRequests, $0.message) })
            try await store.markPublished(waiting, at: now())
        }
    }
}
