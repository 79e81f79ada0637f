import Foundation

/// The problems in a status report. Pure; the thresholds are those of the help text.
package struct Attention: Sendable {
    /// Acceptable lag of a stage, seconds.
    package var lag: Double = 60
    /// Acceptable silence of a receiver that was alive within the last hour.
    package var silence: TimeInterval = 180
    /// Forged notifications that any public address receives within a day.
    package var forged = 1000

    package init() {}

    /// Most urgent first: unreadable sections, lost notifications, delays, rejections.
    package func sentences(on report: StatusReport) -> [String] {
        unreadable(report) + (report.recovery.value.map { $0.attention(at: report.at) } ?? []) + receivers(report)
            + report.topicProblems + behind(report) + rejections(report) + products(report) + transfers(report)
    }

    private func unreadable(_ report: StatusReport) -> [String] {
        var sentences: [String] = []
        if report.stages.problem != nil { sentences.append("Kafka is unavailable; the lag of the stages is unknown") }
        let database = [
            report.ledger.problem, report.rejected.problem, report.receivers.problem, report.recovery.problem,
        ]
        if database.contains(where: { $0 != nil }) {
            sentences.append("the database is unavailable; some sections are unknown")
        }
        return sentences
    }

    private func receivers(_ report: StatusReport) -> [String] {
        guard let receivers = report.receivers.value else { return [] }
        guard !receivers.isEmpty else {
            return report.isYoung
                ? [] : ["no receiver was alive within the last hour: check that Apple can reach ingest"]
        }
        return receivers.compactMap { receiver in
            // A heartbeat is for a minute that is over.
            let silent = report.at.timeIntervalSince(receiver.lastMinute) - 60
            guard silent > silence else { return nil }
            return "receiver \(receiver.instance) has sent no heartbeat for \(TimeSpan.age(silent))"
        }
    }

    private func behind(_ report: StatusReport) -> [String] {
        (report.stages.value ?? []).compactMap { stage in
            guard let seconds = stage.behindSeconds, seconds > lag else { return nil }
            if stage.isStalled {
                return
                    "\(stage.name) is \(TimeSpan.age(seconds)) behind and committed none of the \(stage.waiting) records that "
                    + "wait while this looked: its /readyz says why; restart it if none of its instances can be asked"
            }
            return
                "\(stage.name) is \(TimeSpan.age(seconds)) behind, \(stage.waiting) records: check that it runs, or "
                + "start more instances"
        }
    }

    private func products(_ report: StatusReport) -> [String] {
        report.unknownDurations.map { unknown in
            """
            \(unknown.purchases.counted("purchase")) of \(unknown.product.escaped) \
            \(unknown.purchases == 1 ? "gives" : "give") access without an end, because Apple tells no duration of \
            a non-renewing product: storekeeper products durations --app \(unknown.app.escaped) \
            \(unknown.product.escaped)=P1M
            """
        }
    }

    private func transfers(_ report: StatusReport) -> [String] {
        report.rejectedTransfers.map { rejected in
            """
            restores of \(rejected.purchases.counted("purchase")) of \(rejected.app.escaped) in \
            \(rejected.environment) were rejected within 24 hours, because they had moved between accounts too \
            often: storekeeper customers shared --app \
            \(rejected.app.escaped)
            """
        }
    }

    /// Rejections by the verifier are mostly unsolicited requests, unless there are many; later stages reject verified
    /// notifications.
    private func rejections(_ report: StatusReport) -> [String] {
        let rejected = report.rejected.value ?? []
        let later = rejected.filter { $0.stage != "verifier" }.map {
            "\($0.stage) rejected \($0.count.counted("verified notification")) (\($0.reason)): "
                + "storekeeper dead-letters list --stage \($0.stage)"
        }
        let own = rejected.filter { $0.stage == "verifier" }
        let count = own.reduce(0) { $0 + Int($1.count) }
        guard count > forged, let most = own.max(by: { $0.count < $1.count }) else { return later }
        return later + [
            "verifier rejected at least \(count) notifications within 24 hours, most of them for \(most.reason): another client than "
                + "Apple posts them (allow 17.0.0.0/8 only), or the trusted roots or apps are wrong"
        ]
    }
}
