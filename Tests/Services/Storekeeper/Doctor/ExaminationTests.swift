import Testing

@testable import Storekeeper

@Suite struct ExaminationTests {
    @Test(arguments: [(405, .ok), (403, .warning), (404, .failed), (200, .failed)] as [(Int, DoctorFinding.Outcome)])
    func `The URL is right where ingest answers, and may be where a proxy refuses all but Apple`(
        status: Int, outcome: DoctorFinding.Outcome
    ) {
        let finding = Examination.finding(of: status, at: "https://storekeeper.example.com/v1/notifications")
        #expect(finding.outcome == outcome)
        #expect(finding.detail.contains("example.com"))
        #expect((finding.advice == nil) == (outcome == .ok))
    }
}
