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
            "running \(Self.clock(snapshot.elapsed))   stored \(Self.grouped(snapshot.stored))\(goal(snapshot))",
            latency(snapshot).drop { $0 == " " }.description,
            "",
            Self.row("stage", ["records", "per second", "waiting", "repeats", "rejected"]),
        ]
        for kind in ServiceKind.allCases.reversed() where kind.isStage {
            let counts = snapshot.stages[kind] ?? StageCounts()
            let waiting = kind == .ingest ? "" : snapshot.backlog.map { Self.grouped($0.waiting[kind] ?? 0) } ?? "?"
            lines.append(
                Self.row(
                    kind.rawValue,
                    [
                        Self.grouped(Int64(counts.handled)), rate(of: kind, snapshot), waiting,
                        kind == .ingest ? "" : Self.grouped(Int64(counts.discarded)),
                        Self.grouped(Int64(counts.rejected)),
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
        snapshot.planned.map { " of about \(Self.grouped(Int64($0)))" } ?? ""
    }

    private func latency(_ snapshot: Snapshot) -> String {
        guard let latency = snapshot.latency else { return "" }
        return "   webhook to state: half within \(Self.milliseconds(latency.p50)),"
            + " 95 % within \(Self.milliseconds(latency.p95)), all within \(Self.milliseconds(latency.max))"
    }

    private func notices(_ snapshot: Snapshot) -> [String] {
        guard let dropped = snapshot.backlog?.dropped, dropped > 0 else { return snapshot.notices }
        return snapshot.notices + ["the embedded broker dropped \(dropped) unread records"]
    }

    private func rate(of kind: ServiceKind, _ snapshot: Snapshot) -> String {
        guard let previous, let before = previous.stages[kind], let now = snapshot.stages[kind] else { return "" }
        let seconds = (snapshot.elapsed - previous.elapsed).seconds
        return seconds > 0 ? Self.grouped(Int64((max(0, now.handled - before.handled) / seconds).rounded())) : ""
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

    static func milliseconds(_ value: Double) -> String {
        value < 10_000 ? "\(Int64(value.rounded())) ms" : "\(Int64((value / 1000).rounded())) s"
    }

    private static func clock(_ duration: Duration) -> String {
        let seconds = duration.components.seconds
        let parts = [seconds / 60, seconds % 60].map { ($0 < 10 ? "0" : "") + String($0) }
        return parts.joined(separator: ":")
    }

    /// `1234567` as `1,234,567`.
    static func grouped(_ number: Int64) -> String {
        var text = ""
        let digits = String(number.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return (number < 0 ? "-" : "") + text
    }

    private static func left(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(0, width - text.count))
    }

    private static func right(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension Duration {
    var seconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}
