import Chassis
import Contracts
import Kafka
import Pipeline
import Storage

import struct Foundation.Date
import struct Foundation.TimeInterval

/// Requests the history of purchases that are past their end without a notification, then of those near their end that
/// should have been renewed by now: losses that no outage explains.
struct OverdueJob: Sendable {
    let store: OverdueStore
    let apps: [CoverageStore.App]
    let producer: Producer
    /// Seconds after the end: Apple renews within a day before it, and may delay the notification.
    let patience: TimeInterval
    /// Seconds before the end at which an unrenewed purchase's history is requested; 0 disables it.
    let foresight: TimeInterval
    /// Maximum number of purchases per run; each costs recovery a few requests.
    let budget: Int
    let now: @Sendable () -> Date
    let logger: Logger

    /// Each request is a row before it is a message: a crash in between repeats it and loses nothing.
    func turn() async throws {
        var runner = PerAppRunner("overdue", logger: logger)
        var left = budget
        for app in inTurn where left > 0 {
            try await runner.attempt(app) {
                let ended = now().addingTimeInterval(-patience)
                let count = try await store.notice(of: app, endedBefore: ended, limit: left, at: now())
                Metric.overdue.counter("past").increment(by: count)
                left -= count
            }
        }
        // With the rest of the budget.
        for app in inTurn where left > 0 && foresight > 0 {
            try await runner.attempt(app) {
                let ending = now().addingTimeInterval(foresight)
                let count = try await store.notice(of: app, endingBefore: ending, limit: left, at: now())
                Metric.overdue.counter("near").increment(by: count)
                left -= count
            }
        }
        try await publish()
        try runner.throwIfAnyFailed()
    }

    /// Rotates the order every minute, so that no app takes the whole budget for long.
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
