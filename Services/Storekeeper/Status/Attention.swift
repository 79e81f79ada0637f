import Foundation

/// What of a status report a person has to look at. Pure; the thresholds are those of the help text.
struct Attention: Sendable {
    /// A stage may be this far behind.
    var lag: Double = 60
    /// A receiver that gave a sign within the hour may be silent for so long.
    var silence: TimeInterval = 180

    /// Most urgent first: what cannot be read, what loses notifications, what delays them, what wants a look.
    func sentences(on report: StatusReport) -> [String] {
        unreadable(report) + (report.recovery.value.map { $0.attention(at: report.at) } ?? []) + receivers(report)
            + behind(report) + poison(report)
    }

    private func unreadable(_ report: StatusReport) -> [String] {
        var sentences: [String] = []
        if report.stages.problem != nil { sentences.append("Kafka cannot be asked how far the stages are") }
        let database = [
            report.ledger.problem, report.refused.problem, report.receivers.problem, report.recovery.problem,
        ]
        if database.contains(where: { $0 != nil }) { sentences.append("the database does not answer every question") }
        return sentences
    }

    private func receivers(_ report: StatusReport) -> [String] {
        guard let receivers = report.receivers.value else { return [] }
        guard !receivers.isEmpty else {
            return report.isYoung ? [] : ["no receiver has given a sign for an hour: can Apple reach us?"]
        }
        return receivers.compactMap { receiver in
            // A minute is told of when it is over.
            let silent = report.at.timeIntervalSince(receiver.lastMinute) - 60
            guard silent > silence else { return nil }
            return "receiver \(receiver.instance) has been silent for \(StatusText.age(silent))"
        }
    }

    private func behind(_ report: StatusReport) -> [String] {
        (report.stages.value ?? []).compactMap { stage in
            guard let seconds = stage.behindSeconds, seconds > lag else { return nil }
            return
                "\(stage.name) is \(StatusText.age(seconds)) behind: \(stage.waiting) wait; is it running, and enough "
                + "of it?"
        }
    }

    /// What the verifier refuses is mostly what strangers post; what a later stage refuses was proven.
    private func poison(_ report: StatusReport) -> [String] {
        (report.refused.value ?? []).filter { $0.stage != "verifier" }.map {
            "\($0.stage) refused \($0.count) proven notifications (\($0.reason)): "
                + "storekeeper dead-letters list --stage \($0.stage)"
        }
    }
}
