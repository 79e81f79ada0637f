import ServerAPI
import Storage

import struct Foundation.Date

extension RecoveryStatus {
    /// Notifications of days that were given up: no longer recoverable, so no reason for attention.
    private func givenUp(_ app: Missing) -> Int64 {
        incompleteDays.first { $0.bundleId == app.bundleId && $0.environment == app.environment }?.givenUp ?? 0
    }

    /// Problems, most urgent first: missing notifications, lost test notifications, stuck windows.
    package func attention(at now: Date) -> [String] {
        func age(_ date: Date) -> String { TimeSpan.age(now.timeIntervalSince(date)) }
        let failed = RecoveryWindow.State.failed.rawValue
        var sentences = missing.map { ($0, $0.count - givenUp($0)) }.filter { $0.1 > 0 }.map { app, count in
            "\(count) notifications of \(app.bundleId) \(app.environment) are missing: storekeeper coverage"
        }
        for canary in canaries {
            guard let outcome = canary.outcome, outcome != Canary.Outcome.arrived.rawValue else { continue }
            let word =
                canary.attemptResult.map { result in
                    ", Apple says \(result): "
                        + (SendAttemptResult(rawValue: result).remedy ?? "storekeeper dead-letters list says more")
                } ?? ""
            sentences.append(
                "the last test notification of \(canary.bundleId) \(canary.environment) is \(outcome)\(word)")
        }
        for window in unsettled.filter({ $0.state == failed }).prefix(3) {
            sentences.append("window \(window.id) of Apple's history failed: \(window.lastError ?? "unknown error")")
        }
        let slow = unsettled.filter { $0.state != failed && now.timeIntervalSince($0.openedAt) > Self.patience }
        for window in slow.prefix(3) {
            let error = window.lastError.map { ": \($0)" } ?? ""
            sentences.append("window \(window.id) of Apple's history has been open for \(age(window.openedAt))\(error)")
        }
        for waiting in postponed where now.timeIntervalSince(waiting.since) > Self.patience {
            sentences.append(
                "\(waiting.requests) customers of \(waiting.bundleId) \(waiting.environment) wait for their history: "
                    + waiting.lastError)
        }
        for app in coverage where app.kind == Coverage.Kind.failures.rawValue {
            guard now.timeIntervalSince(app.completeUntil) > Self.checkAge else { continue }
            sentences.append(
                "failed deliveries to \(app.bundleId) \(app.environment) were last checked \(age(app.completeUntil)) ago: "
                    + "check that the scheduler runs")
        }
        return sentences
    }
}
