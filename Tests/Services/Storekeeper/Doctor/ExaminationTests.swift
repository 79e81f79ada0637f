import Chassis
import Hummingbird
import Operations
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

    @Test func `A port that answers without TLS is told from one that cannot be reached`() async throws {
        try await Router().get("v1/notifications") { _, _ in HTTPResponse.Status.methodNotAllowed }
            .serving(logger: .silent) { port in
                let finding = await Examination.finding(at: "https://127.0.0.1:\(port)/v1/notifications")
                #expect(finding.outcome == .failed && finding.detail.contains("answers without TLS"), "\(finding)")
                #expect(await Examination.finding(at: "http://127.0.0.1:\(port)/v1/notifications").outcome == .ok)
            }
        let away = await Examination.finding(at: "https://127.0.0.1:1/v1/notifications")
        #expect(away.detail.contains("cannot be reached from here"), "\(away)")
    }
}
