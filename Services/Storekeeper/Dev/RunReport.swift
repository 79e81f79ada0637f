import ArgumentParser
import Foundation

/// How a counted run ended: what is printed, and what decides the exit code.
struct RunReport: Sendable, Codable {
    /// The comparison of ledger and book.
    var findings: CheckFindings
    /// Records that the development broker dropped before they were read; the cause of as many missing ones.
    var droppedByBroker: Int64
    /// Whether waiting ended because nothing moved any more.
    var stalled: Bool
    var latency: Snapshot.Latency?
    /// Nil where nobody looked.
    var recovery: Recovery?
    /// From the first notification to the last one stored.
    var seconds: Double
    /// Nil where somebody else ran the simulator.
    var seed: UInt64?

    /// Whether everything is as it should be.
    var isClean: Bool
    /// Notifications that have ended where they belong, per second of the whole run.
    var perSecond: Double

    init(
        findings: CheckFindings, droppedByBroker: Int64, stalled: Bool, latency: Snapshot.Latency?,
        recovery: Recovery? = nil, seconds: Double, seed: UInt64?
    ) {
        self.findings = findings
        self.droppedByBroker = droppedByBroker
        self.stalled = stalled
        self.latency = latency
        self.recovery = recovery
        self.seconds = seconds
        self.seed = seed
        isClean = findings.areClean && (recovery?.missing ?? 0) == 0
        let ended = findings.inLedger + findings.refusedByReason.values.reduce(0, +)
        perSecond = seconds > 0 ? Double(ended) / seconds : 0
    }

    /// What was asked of Apple's history during the run.
    struct Recovery: Sendable, Codable, Equatable {
        /// By state.
        var windows: [String: Int64]
        /// Listed by Apple and not in the ledger.
        var missing: Int64

        /// For people.
        var text: String {
            let windows = windows.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return "windows: \(windows.isEmpty ? "none" : windows.joined(separator: ", ")); \(missing) missing"
        }
    }

    /// Prints itself, and ends the command with 1 where it is not clean.
    func pronounce(asJSON: Bool, in context: CommandContext) throws {
        if asJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            context.print(String(decoding: try encoder.encode(self), as: UTF8.self))
        } else {
            lines.forEach(context.print)
        }
        if !isClean { throw Exit.failed.code }
    }

    private var refusedCount: Int { findings.refusedByReason.values.reduce(0, +) }

    /// The block for people.
    var lines: [String] {
        var lines = [
            "",
            isClean ? "Clean: the ledger equals the simulator's book." : "NOT CLEAN: the ledger differs from the book.",
            "",
            row("sent", "\(findings.sent) notifications, \(findings.forged) of them forged"),
            row("sent again", "\(findings.repetitions)"),
            row("in the ledger", "\(findings.inLedger), each compared field by field"),
            row("state compared", "\(findings.purchases) subscriptions and purchases"),
            row("forged, refused", "\(refusedCount)\(reasons)"),
            row("missing", "\(findings.missing.count)\(cause)"),
            row("unexpected", "\(findings.unexpected.count)"),
            row("differing", "\(findings.differences.count)"),
            row("effects twice", "\(findings.effectsTwice.count)"),
        ]
        if findings.notAccepted > 0 {
            lines.append(
                row("not accepted", "\(findings.notAccepted), never answered 200: Apple would still have them"))
        }
        for (name, uuids) in [
            ("forged, stored", findings.forgedInLedger), ("forged, missing", findings.forgedMissing),
            ("wrongly refused", findings.wronglyRefused),
        ] where !uuids.isEmpty {
            lines.append(row(name, "\(uuids.count)"))
        }
        if let recovery {
            lines.append(row("Apple's history", recovery.text))
        }
        if let latency {
            lines.append(
                row(
                    "webhook to state",
                    "half within \(LiveView.milliseconds(latency.p50)), 95 % within "
                        + "\(LiveView.milliseconds(latency.p95)), all within \(LiveView.milliseconds(latency.max))"))
        }
        let rate = (perSecond * 10).rounded() / 10
        if let seed {
            lines.append(
                row("whole run", "\((seconds * 10).rounded() / 10) s, \(rate) notifications per second, seed \(seed)"))
        }
        return lines + examples
    }

    private var reasons: String {
        guard !findings.refusedByReason.isEmpty else { return "" }
        let reasons = findings.refusedByReason.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return " (\(reasons.joined(separator: ", ")))"
    }

    /// Why what is missing is missing.
    private var cause: String {
        let missing = Int64(findings.missing.count + findings.forgedMissing.count)
        guard missing > 0 else { return "" }
        guard droppedByBroker > 0 else {
            return stalled ? ", LOST: nothing has moved for a minute and the broker dropped nothing" : ", LOST"
        }
        guard droppedByBroker < missing else {
            return ", the development broker dropped \(droppedByBroker) records before they were read (it keeps 5 MiB"
                + " per partition): send slower, or set KAFKA_BOOTSTRAP_SERVERS"
        }
        return ", of which the development broker dropped \(droppedByBroker) and \(missing - droppedByBroker) are LOST"
    }

    /// The first few of each kind, to begin looking with.
    private var examples: [String] {
        let lists: [(String, [String])] = [
            ("missing", findings.missing), ("unexpected", findings.unexpected),
            ("forged but stored", findings.forgedInLedger), ("forged and missing", findings.forgedMissing),
            ("wrongly refused", findings.wronglyRefused), ("effects twice", findings.effectsTwice),
            (
                "differing",
                findings.differences.map { "\($0.of) \($0.field): book \($0.book ?? "-"), found \($0.found ?? "-")" }
            ),
        ]
        return lists.filter { !$0.1.isEmpty }.flatMap { name, all in
            ["", "\(name):"] + all.prefix(5).map { "  \($0)" } + (all.count > 5 ? ["  and \(all.count - 5) more"] : [])
        }
    }

    private func row(_ name: String, _ value: String) -> String {
        "  " + name + String(repeating: " ", count: max(1, 20 - name.count)) + value
    }
}
