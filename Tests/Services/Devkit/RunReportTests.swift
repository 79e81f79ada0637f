import Testing

@testable import Devkit

struct RunReportTests {
    private static func report(
        missing: [String] = [], dropped: Int64 = 0, stalled: Bool = false
    ) -> RunReport {
        var findings = CheckFindings()
        findings.sent = 10
        findings.inLedger = 10 - missing.count
        findings.missing = missing
        return RunReport(
            findings: findings, droppedByBroker: dropped, stalled: stalled, latency: nil, seconds: 2, seed: 7)
    }

    @Test func `RunReport begins with whether the run is clean`() {
        let report = Self.report()
        #expect(report.isClean)
        #expect(report.lines.first { !$0.isEmpty } == "EQUAL: the ledger matches the simulator's run record.")
        #expect(report.lines.contains { $0.contains("5.0 notifications per second, seed 7") })
    }

    @Test func `RunReport is not clean with missing notifications`() {
        var reports = [0, 1].map { missing in
            RunReport(
                findings: CheckFindings(), droppedByBroker: 0, stalled: false, latency: nil,
                recovery: RunReport.Recovery(windows: ["closed": 2, "open": 0], missing: missing), seconds: 1, seed: 1)
        }
        #expect(reports.map(\.isClean) == [true, false])
        let line = reports.removeLast().lines.first { $0.contains("Apple's history") }
        #expect(line?.hasSuffix("windows: 2 closed; 1 missing") == true)
    }

    @Test func `RunReport distinguishes records that the broker dropped from lost ones`() {
        let row: (RunReport) -> String? = { $0.lines.first { $0.hasPrefix("  missing") } }
        #expect(row(Self.report(missing: ["a"]))?.contains("LOST") == true)
        #expect(row(Self.report(missing: ["a"], stalled: true))?.contains("the broker dropped nothing") == true)
        let dropped = row(Self.report(missing: ["a"], dropped: 3))
        #expect(dropped?.contains("dropped 3 unread records") == true)
        #expect(dropped?.contains("LOST") == false)
        #expect(row(Self.report(missing: ["a", "b"], dropped: 1))?.contains("1 are LOST") == true)
    }

    @Test func `RunReport says how refund requests were answered, and why some were not`() {
        var report = Self.report()
        report.findings.refundRequests = 9
        report.findings.refundsAnswered = 6
        report.findings.refundAnswersRepeated = 1
        report.findings.refundsUnanswered = ["noAccount": 2, "holdOut": 1]
        let line = report.lines.first { $0.hasPrefix("  refund requests") }
        #expect(
            line?.hasSuffix("9, 6 answered, each with the stored bytes (1 repeats); no answer: holdOut 1, noAccount 2")
                == true)
    }

    @Test func `RunReport is not clean with dropped records`() {
        #expect(!Self.report(missing: ["a"], dropped: 3).isClean)
    }

    @Test func `RunReport shows the first few of a long list`() {
        let lines = Self.report(missing: (1...8).map { "uuid-\($0)" }).lines
        #expect(lines.contains("  uuid-5") && !lines.contains("  uuid-6") && lines.contains("  and 3 more"))
    }
}
