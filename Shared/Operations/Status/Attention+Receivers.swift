import Foundation
import Postgres

/// The instances of ingest, which tell of themselves by heartbeats.
extension Attention {
    func receivers(_ report: PipelineStatus) -> [String] {
        guard let receivers = report.receivers.value else { return [] }
        guard !receivers.isEmpty else {
            return report.isYoung
                ? [] : ["no receiver was alive within the last hour: check that Apple can reach ingest"]
        }
        let silent = receivers.map { (receiver: $0, seconds: report.at.timeIntervalSince($0.lastMinute) - 60) }
            // A heartbeat is for a minute that is over.
            .filter { $0.seconds > silence }
        if silent.count == receivers.count, silent.allSatisfy(\.receiver.isStopped),
            let last = silent.map(\.seconds).min()
        {
            return [
                "no receiver has sent a heartbeat since the last one ended \(TimeSpan.age(last)) ago: start ingest; Apple repeats "
                    + "what it could not deliver"
            ]
        }
        return silent.filter { !$0.receiver.isStopped }.map { receiver, seconds in
            "receiver \(receiver.instance) has sent no heartbeat for \(TimeSpan.age(seconds)): restart it, unless it was killed "
                + "on purpose; it is listed for an hour"
        }
    }

    /// What is told of the past by a clock that is wrong cannot be trusted.
    func clocks(_ report: PipelineStatus) -> [String] {
        let advice = "let all machines follow a time service (NTP); dates in the ledger are wrong by as much meanwhile"
        let database = report.clockDifference.flatMap(ServerClock.sentence).map { ["\($0): \(advice)"] } ?? []
        return database
            + (report.receivers.value ?? []).compactMap { receiver in
                // A heartbeat is for a minute that is over, but the last one of a receiver that stops for one that has begun.
                let ahead = receiver.lastMinute.timeIntervalSince(report.at)
                guard ahead > ServerClock.tolerance else { return nil }
                return
                    "the clock of receiver \(receiver.instance) is at least \(TimeSpan.age(ahead)) ahead of this machine's: \(advice)"
            }
    }
}
