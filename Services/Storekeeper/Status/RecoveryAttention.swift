import Storage

import struct Foundation.Date

extension RecoveryStatus {
    /// A day that was given up counts as one for ever, and there is nothing to be done about it.
    private func givenUp(_ app: Missing) -> Int64 {
        unprovenDays.first { $0.bundleId == app.bundleId && $0.environment == app.environment }?.givenUp ?? 0
    }

    /// What a person has to look at, most urgent first: what is lost, what may be, what does not get on.
    func attention(at now: Date) -> [String] {
        func age(_ date: Date) -> String { StatusText.age(now.timeIntervalSince(date)) }
        let failed = RecoveryWindow.State.failed.rawValue
        var sentences = missing.map { ($0, $0.count - givenUp($0)) }.filter { $0.1 > 0 }.map { app, count in
            "\(count) notifications of \(app.bundleId) \(app.environment) are missing: storekeeper coverage"
        }
        for canary in canaries {
            guard let outcome = canary.outcome, outcome != Canary.Outcome.arrived.rawValue else { continue }
            let word = canary.attemptResult.map { ", Apple says \($0)" } ?? ""
            sentences.append(
                "the last test notification of \(canary.bundleId) \(canary.environment) is \(outcome)\(word)")
        }
        for window in unsettled.filter({ $0.state == failed }).prefix(3) {
            sentences.append("window \(window.id) failed: \(window.lastError ?? "it does not say why")")
        }
        let slow = unsettled.filter { $0.state != failed && now.timeIntervalSince($0.openedAt) > Self.patience }
        for window in slow.prefix(3) {
            let setback = window.lastError.map { ": \($0)" } ?? ""
            sentences.append("window \(window.id) stands open for \(age(window.openedAt))\(setback)")
        }
        for waiting in postponed where now.timeIntervalSince(waiting.since) > Self.patience {
            sentences.append(
                "\(waiting.requests) customers of \(waiting.bundleId) \(waiting.environment) wait to be asked about: "
                    + waiting.lastError)
        }
        for proof in proofs where proof.kind == Coverage.Kind.failures.rawValue {
            guard now.timeIntervalSince(proof.provenUntil) > Self.proofAge else { continue }
            sentences.append(
                "delivery of \(proof.bundleId) \(proof.environment) was proven \(age(proof.provenUntil)) ago: "
                    + "is the scheduler running?")
        }
        return sentences
    }
}
