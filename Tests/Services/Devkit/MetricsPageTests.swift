import Testing

@testable import Devkit

struct MetricsPageTests {
    private static let page = MetricsPage(
        #"""
        # HELP storekeeper_stage_records_total Records.
        # TYPE storekeeper_stage_records_total counter
        storekeeper_stage_records_total{stage="verifier",outcome="forwarded",reason=""} 90
        storekeeper_stage_records_total{stage="verifier",outcome="dead_letter",reason="a \"b\" \\ c,d=\"e\""} 10
        storekeeper_ingest_requests_total{code="200"} 7
        storekeeper_ingest_requests_total{code="400"} 2
        process_start_time_seconds 1.5e+09
        nonsense
        """#)

    @Test func `Samples are summed over the labels that were not asked for`() {
        #expect(Self.page.sum("storekeeper_stage_records_total") == 100)
        #expect(Self.page.sum("storekeeper_stage_records_total", ["outcome": "dead_letter"]) == 10)
        #expect(Self.page.sum("unheard_of") == 0)
        #expect(Self.page.sum("process_start_time_seconds") == 1_500_000_000)
    }

    @Test func `Escapes in labels are read`() {
        let reasons = Self.page.samples.compactMap { $0.labels["reason"] }
        #expect(reasons == ["", #"a "b" \ c,d="e""#])
    }

    @Test func `MetricsPage leaves out lines that are no samples`() {
        #expect(Self.page.samples.count == 5)
    }

    @Test func `Counts are read per service`() {
        #expect(StageCounts(Self.page, of: .verifier) == StageCounts(handled: 100, discarded: 0, rejected: 10))
        #expect(StageCounts(Self.page, of: .ingest) == StageCounts(handled: 9, discarded: 0, rejected: 2))
    }

    @Test func `Process that starts again goes on counting where it was`() {
        var total = StageCounts.Total()
        total.note(StageCounts(handled: 5), of: "verifier-1", .verifier, process: 1)
        total.note(StageCounts(handled: 7), of: "verifier-1", .verifier, process: 1)
        total.note(StageCounts(handled: 2), of: "verifier-1", .verifier, process: 2)
        total.note(StageCounts(handled: 1), of: "verifier-2", .verifier, process: 3)
        #expect(total.counts == [.verifier: StageCounts(handled: 10)])
    }
}
