import Foundation
import Operations

/// The status screen as lines of text.
struct StatusText: Sendable {
    let report: StatusReport

    var lines: [String] {
        let headline =
            switch report.attention.count {
            case 0: "healthy"
            case 1: "1 problem"
            case let count: "\(count) problems"
            }
        var lines = ["Storekeeper at \(report.at.text): \(headline)"]
        lines += report.attention.map { "! \($0)" }
        lines += section("pipeline", report.stages) { stages in
            TextTable(
                columns: ["stage", .number("lag"), .number("age")],
                rows: stages.map { [$0.name, LiveView.grouped($0.waiting), $0.behindSeconds.map(Self.age) ?? "-"] }
            ).lines
        }
        lines += section("ledger", report.ledger, ledger)
        lines += section("dead letters of the last 24 hours", report.rejected) { rejected in
            guard !rejected.isEmpty else { return ["none"] }
            return TextTable(
                columns: ["stage", "reason", .number("count")],
                rows: rejected.map { [$0.stage, $0.reason, LiveView.grouped(Int64($0.count))] }
            ).lines
        }
        lines += section("receivers of the last hour", report.receivers) { receivers in
            guard !receivers.isEmpty else {
                let isYoung = report.isYoung
                return [isYoung ? "no heartbeat yet; receivers send one per minute" : "none"]
            }
            return TextTable(
                columns: ["instance", "last heartbeat", .number("accepted"), .number("rejected")],
                rows: receivers.map {
                    [$0.instance, $0.lastMinute.text, LiveView.grouped($0.accepted), LiveView.grouped($0.rejected)]
                }
            ).lines
        }
        lines += section("recovery", report.recovery) { $0.lines(at: report.at) }
        return lines.map(\.escaped)
    }

    private func section<Value>(
        _ title: String, _ section: Section<Value>, _ body: (Value) -> [String]
    ) -> [String] {
        let content =
            switch section {
            case .read(let value): body(value)
            case .unreadable(let problem): ["unavailable: \(problem)"]
            }
        return ["", title] + content.map { "  \($0)" }
    }

    private func ledger(_ ledger: StatusReport.Ledger) -> [String] {
        var lines = [
            "last received     \(moment(ledger.lastReceivedAt))", "last stored       \(moment(ledger.lastRecordedAt))",
        ]
        if let p50 = ledger.webhookToStateP50, let p99 = ledger.webhookToStateP99 {
            lines.append(
                "webhook to state  half within \(LiveView.milliseconds(p50)), 99 % within "
                    + "\(LiveView.milliseconds(p99)), of the last \(LiveView.grouped(Int64(ledger.sample)))")
        }
        return lines
    }

    private func moment(_ date: Date?) -> String {
        date.map { "\($0.text), \(Self.age(report.at.timeIntervalSince($0))) ago" } ?? "never"
    }

    static func age(_ seconds: Double) -> String { TimeSpan.age(seconds) }
}
