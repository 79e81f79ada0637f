import Commands
import Foundation
import Operations

/// The status screen as lines of text.
struct StatusText: Sendable {
    let report: PipelineStatus

    static func title(at moment: Date) -> String { "Storekeeper at \(moment.text)" }

    /// The number of problems.
    var verdict: String {
        let title = Self.title(at: report.at)
        return switch report.attention.count {
        case 0: "\(title): healthy"
        case 1: "\(title): 1 problem"
        case let count: "\(title): \(count) problems"
        }
    }

    /// The verdict, the sections and what to do.
    var lines: [String] { [verdict] + PipelineStatus.ScreenSection.allCases.flatMap(lines) + advice }

    /// A section, below its question where it is the first answer to it.
    func lines(of name: PipelineStatus.ScreenSection) -> [String] {
        let lines =
            switch name {
            case .receivers:
                ["", "Is Apple being answered?"] + section("receivers of the last hour", report.receivers, receivers)
            case .brokers: section("Kafka brokers", report.brokers, brokers)
            case .stages: ["", "Is the state up to date?"] + section("pipeline", report.stages, stages)
            case .ledger: section("ledger", report.ledger, ledger)
            case .unpublished:
                section("subscriptions.changed", report.unpublished) {
                    [$0.count == 0 ? "everything is published" : "\($0.count.grouped) changes to be published"]
                }
            case .blocked:
                section("locks", report.blocked) { blocked in
                    blocked.isEmpty
                        ? ["no statement waits for one"] : blocked.map { "\($0.application): \($0.by)" }
                }
            case .recovery:
                ["", "Is anything missing?"] + section("recovery", report.recovery) { $0.lines(at: report.at) }
            case .rejected: section("open dead letters of the last 24 hours", report.rejected, rejected)
            }
        return lines.map(\.escaped)
    }

    /// The sentences of what to do, which follow from all sections.
    var advice: [String] {
        var lines = ["", "What should I do?"] + report.attention.map { "! \($0)" } + report.hints.map { "- \($0)" }
        if report.attention.isEmpty, report.hints.isEmpty { lines.append("  nothing") }
        return lines.map(\.escaped)
    }

    private func receivers(_ receivers: [PipelineStatus.Receiver]) -> [String] {
        guard !receivers.isEmpty else {
            return [report.isYoung ? "no heartbeat yet; receivers send one per minute" : "none"]
        }
        return TextTable(
            columns: [
                "instance", "last heartbeat", .number("accepted"), .number("rejected"), .number("of them 503"),
            ],
            rows: receivers.map {
                [
                    $0.instance, $0.lastMinute.text + ($0.isStopped ? ", stopped" : ""), $0.accepted.grouped,
                    $0.rejected.grouped, $0.unavailable.grouped,
                ]
            }
        ).lines
    }

    private func brokers(_ brokers: [PipelineStatus.Broker]) -> [String] {
        let lost = brokers.filter { !$0.isReachable }.map { ", not \($0.address)" }.joined()
        return ["\(brokers.count - brokers.count { !$0.isReachable }) of \(brokers.count) reachable\(lost)"]
    }

    private func stages(_ stages: [PipelineStatus.Stage]) -> [String] {
        TextTable(
            columns: ["stage", .number("lag"), .number("age")],
            rows: stages.map { stage in
                let waiting = (stage.unreadPartitions.isEmpty ? "" : "at least ") + stage.waiting.grouped
                return [stage.name, waiting, stage.behindSeconds.map(Self.age) ?? "-"]
            } + report.unreadStages.keys.sorted().map { [$0, "unknown", "-"] }
        ).lines
    }

    private func rejected(_ rejected: [PipelineStatus.Rejected]) -> [String] {
        guard !rejected.isEmpty else { return ["none"] }
        return TextTable(
            columns: ["stage", "reason", .number("count")],
            rows: rejected.map { [$0.stage, $0.reason, Int64($0.count).grouped] }
        ).lines
    }

    private func section<Value>(
        _ title: String, _ section: Section<Value>, _ body: (Value) -> [String]
    ) -> [String] {
        let content =
            switch section {
            case .read(let value): body(value)
            case .unreadable(let problem): ["unavailable: \(problem)"]
            }
        return [title] + content.map { "  \($0)" }
    }

    private func ledger(_ ledger: PipelineStatus.Ledger) -> [String] {
        var lines = [
            "last received     \(moment(ledger.lastReceivedAt))", "last stored       \(moment(ledger.lastRecordedAt))",
        ]
        if let p50 = ledger.webhookToStateP50, let p99 = ledger.webhookToStateP99 {
            lines.append(
                "webhook to state  half within \(p50.inMilliseconds), 99 % within "
                    + "\(p99.inMilliseconds), of the last \(Int64(ledger.sample).grouped)")
        }
        return lines
    }

    private func moment(_ date: Date?) -> String {
        date.map { "\($0.text), \(Self.age(report.at.timeIntervalSince($0))) ago" } ?? "never"
    }

    static func age(_ seconds: Double) -> String { TimeSpan.age(seconds) }
}

extension StatusText {
    /// The lines with their meaning as colours: the verdict, what is wrong, the questions.
    /// - Parameter width: of the terminal, where longer lines are to be cut; their ends still decide the colour.
    static func coloured(_ lines: [String], in style: TerminalStyle, cutTo width: Int = .max) -> [String] {
        lines.map { line in
            let shown = String(line.prefix(width))
            if line.hasPrefix("Storekeeper at ") {
                if line.hasSuffix(": healthy") { return style.text(shown, .good) }
                return style.text(shown, line.hasSuffix("problem") || line.hasSuffix("problems") ? .bad : .heading)
            }
            if line.hasPrefix("! ") || line.hasPrefix("  unavailable: ") { return style.text(shown, .bad) }
            if line.hasPrefix("- ") { return style.text(shown, .warning) }
            return line.hasSuffix("?") ? style.text(shown, .heading) : shown
        }
    }
}
