import Commands
import Foundation
import Operations

/// A snapshot as text. Pure.
struct LiveView: Sendable {
    var target: String
    var width = 100

    private var previous: Snapshot?

    init(target: String, width: Int = 100) {
        self.target = target
        self.width = width
    }

    /// The screen, for a terminal.
    mutating func frame(_ snapshot: Snapshot) -> [String] {
        defer { previous = snapshot }
        var lines = [
            "Storekeeper  \(target)",
            "running \(Self.clock(snapshot.elapsed))   stored \(snapshot.stored.grouped)\(goal(snapshot))",
            latency(snapshot).drop { $0 == " " }.description,
            "",
            Self.row("stage", ["records", "per second", "waiting", "repeats", "rejected"]),
        ]
        for kind in ServiceKind.allCases.reversed() where kind.isStage {
            let counts = snapshot.stages[kind] ?? StageCounts()
            let waiting = kind == .ingest ? "" : snapshot.backlog.map { ($0.waiting[kind] ?? 0).grouped } ?? "?"
            lines.append(
                Self.row(
                    kind.rawValue,
                    [
                        Int64(counts.handled).grouped, rate(of: kind, snapshot), waiting,
                        kind == .ingest ? "" : Int64(counts.discarded).grouped,
                        Int64(counts.rejected).grouped,
                    ]))
        }
        if let recovery = snapshot.recovery { lines += ["", "Apple's history, \(recovery.text)"] }
        lines += ["", "newest changes"]
        lines += snapshot.newest.map(Self.change)
        if snapshot.newest.isEmpty { lines.append("  none yet") }
        lines += notices(snapshot).map { "! \($0)" }
        return lines.map { String($0.prefix(width)) }
    }

    /// One line, for a log.
    mutating func line(_ snapshot: Snapshot) -> String {
        defer { previous = snapshot }
        let stages = ServiceKind.allCases.reversed().filter(\.isStage).map { kind in
            let waiting = kind == .ingest ? "" : " (\(snapshot.backlog?.waiting[kind] ?? 0) waiting)"
            return "\(kind.rawValue) \(Int64(snapshot.stages[kind]?.handled ?? 0))\(waiting)"
        }
        return "\(Self.clock(snapshot.elapsed))  stored \(snapshot.stored)\(goal(snapshot))\(latency(snapshot))   "
            + stages.joined(separator: ", ") + notices(snapshot).map { "  ! \($0)" }.joined()
    }

    private func goal(_ snapshot: Snapshot) -> String {
        snapshot.planned.map { " of about \(Int64($0).grouped)" } ?? ""
    }

    private func latency(_ snapshot: Snapshot) -> String {
        guard let latency = snapshot.latency else { return "" }
        return "   webhook to state: half within \(latency.p50.inMilliseconds),"
            + " 95 % within \(latency.p95.inMilliseconds), all within \(latency.max.inMilliseconds)"
    }

    private func notices(_ snapshot: Snapshot) -> [String] {
        guard let dropped = snapshot.backlog?.dropped, dropped > 0 else { return snapshot.notices }
        return snapshot.notices + ["the embedded broker dropped \(dropped) unread records"]
    }

    private func rate(of kind: ServiceKind, _ snapshot: Snapshot) -> String {
        guard let previous, let before = previous.stages[kind], let now = snapshot.stages[kind] else { return "" }
        let seconds = (snapshot.elapsed - previous.elapsed).seconds
        return seconds > 0 ? Int64((max(0, now.handled - before.handled) / seconds).rounded()).grouped : ""
    }

    // MARK: Texts

    private static func row(_ name: String, _ cells: [String]) -> String {
        left(name, 14) + cells.map { right($0, 12) }.joined()
    }

    private static func change(_ row: Snapshot.TimelineRow) -> String {
        let time = row.at.formatted(
            Date.ISO8601FormatStyle(includingFractionalSeconds: true).time(includingFractionalSeconds: true))
        return "  \(time)  \(left(row.purchase, 30)) \(left(row.fact, 24)) \(row.from ?? "-") -> \(row.to ?? "-")"
    }

    private static func clock(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let parts = [seconds / 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }
        return parts.joined(separator: ":")
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}
