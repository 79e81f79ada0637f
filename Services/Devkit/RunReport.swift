import ArgumentParser
import Commands
import Foundation

/// The result of a counted run, which is printed and decides the exit code.
struct RunReport: Sendable, Codable {
    /// The comparison of ledger and run record.
    var findings: CheckFindings
    /// Unread records that the embedded broker dropped; each explains a missing notification.
    var droppedByBroker: Int64
    /// Whether waiting ended for lack of progress.
    var stalled: Bool
    var latency: Snapshot.Latency?
    /// Nil where it was not read.
    var recovery: Recovery?
    /// From the first notification to the last one stored.
    var seconds: Double
    /// Nil where another process ran the simulator.
    var seed: UInt64?

    /// Whether there are no differences.
    var isClean: Bool
    /// Stored and rejected notifications per second of the whole run.
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
        let ended = findings.inLedger + findings.rejectedByReason.values.reduce(0, +)
        perSecond = seconds > 0 ? Double(ended) / seconds : 0
    }

    /// Recovery from Apple's history during the run.
    struct Recovery: Sendable, Codable, Equatable {
        /// By state.
        var windows: [String: Int64]
        /// Listed by Apple and not in the ledger.
        var missing: Int64

        var text: String {
            let windows = windows.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
            return
                "\(windows.isEmpty ? "not fetched yet" : "windows: " + windows.joined(separator: ", ")); \(missing) missing"
        }
    }

    /// Prints the report, and exits with 1 where there are differences.
    func present(asJSON: Bool, in context: CommandContext) throws {
        if asJSON {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
            context.print(String(decoding: try encoder.encode(self), as: UTF8.self))
        } else {
            lines.forEach(context.print)
        }
        if !isClean { throw Exit.failed.code }
    }

    private var rejectedCount: Int { findings.rejectedByReason.values.reduce(0, +) }

    /// The block for people.
    var lines: [String] {
        var lines = [
            "",
            isClean
                ? "EQUAL: the ledger matches the simulator's run record."
                : "DIFFERENT: the ledger does not match the run record.",
            "",
            row("sent", "\(findings.sent) notifications, \(findings.forged) of them forged"),
            row("duplicates sent", "\(findings.repetitions)"),
            row("in the ledger", "\(findings.inLedger), each compared field by field"),
            row("state compared", "\(findings.purchases) subscriptions and purchases"),
            row("access compared", "\(findings.accesses) subscriptions and purchases, at every boundary"),
            row("refund requests", refunds),
            row("forged, rejected", "\(rejectedCount)\(reasons)"),
            row("missing", "\(findings.missing.count)\(cause)"),
            row("unexpected", "\(findings.unexpected.count)"),
            row("differing", "\(findings.differences.count)"),
            row("effects twice", "\(findings.effectsTwice.count)"),
        ]
        if findings.notAccepted > 0 {
            lines.append(
                row("not accepted", "\(findings.notAccepted), never answered 200: Apple would retry them"))
        }
        for (name, uuids) in [
            ("forged, stored", findings.forgedInLedger), ("forged, missing", findings.forgedMissing),
            ("wrongly rejected", findings.wronglyRejected),
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
                    "half within \(latency.p50.inMilliseconds), 95 % within "
                        + "\(latency.p95.inMilliseconds), all within \(latency.max.inMilliseconds)"))
        }
        let rate = (perSecond * 10).rounded() / 10
        if let seed {
            lines.append(
                row("whole run", "\((seconds * 10).rounded() / 10) s, \(rate) notifications per second, seed \(seed)"))
        }
        return lines + examples
    }

    private var refunds: String {
        guard findings.refundRequests > 0 else { return "0" }
        let reasons = findings.refundsUnanswered.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        let repeated = findings.refundAnswersRepeated
        return "\(findings.refundRequests), \(findings.refundsAnswered) answered, each with the stored bytes"
            + (repeated > 0 ? " (\(repeated) repeats)" : "")
            + (reasons.isEmpty ? "" : "; no answer: \(reasons.joined(separator: ", "))")
    }

    private var reasons: String {
        guard !findings.rejectedByReason.isEmpty else { return "" }
        let reasons = findings.rejectedByReason.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
        return " (\(reasons.joined(separator: ", ")))"
    }

    /// Why notifications are missing.
    private var cause: String {
        let missing = Int64(findings.missing.count + findings.forgedMissing.count)
        guard missing > 0 else { return "" }
        guard droppedByBroker > 0 else {
            return stalled ? ", LOST: no progress for a minute, and the broker dropped nothing" : ", LOST"
        }
        guard droppedByBroker < missing else {
            return ", the embedded broker dropped \(droppedByBroker) unread records (it keeps 5 MiB"
                + " per partition): send slower, or set KAFKA_BOOTSTRAP_SERVERS"
        }
        return ", of which the embedded broker dropped \(droppedByBroker) and \(missing - droppedByBroker) are LOST"
    }

    /// The first few of each kind.
    private var examples: [String] {
        let lists: [(String, [String])] = [
            ("missing", findings.missing), ("unexpected", findings.unexpected),
            ("forged but stored", findings.forgedInLedger), ("forged and missing", findings.forgedMissing),
            ("wrongly rejected", findings.wronglyRejected), ("effects twice", findings.effectsTwice),
            (
                "differing",
                findings.differences.map {
                    "\($0.of) \($0.field): expected \($0.expected ?? "-"), found \($0.found ?? "-")"
                }
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
