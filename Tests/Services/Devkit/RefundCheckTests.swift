import Contracts
import Testing

@testable import Devkit

struct RefundCheckTests {
    @Test func `Request that was answered once with the stored bytes is no difference`() {
        let findings = Self.findings(
            of: [Self.request("1", "answered", [Self.answer("{}")])], asked: ["1"], taken: [("1", "{}")])
        #expect(findings.areClean)
        #expect(findings.refundRequests == 1)
        #expect(findings.refundsAnswered == 1)
        #expect(findings.refundAnswersRepeated == 0)
    }

    @Test func `Repeated request of one transaction counts once`() {
        let findings = Self.findings(
            of: [Self.request("1", "answered", [Self.answer("{}")])], asked: ["1", "1"], taken: [("1", "{}")])
        #expect(findings.areClean && findings.refundRequests == 1)
    }

    @Test(arguments: [
        ("not taken", []), ("other bytes", [("1", "{ }")]),
        ("more often than it was sent", [("1", "{}"), ("1", "{}")]),
        ("also about another transaction", [("1", "{}"), ("2", "{}")]),
    ])
    func `Answer that the simulator did not take as it was stored is a difference`(
        name: String, taken: [(String, String)]
    ) {
        let findings = Self.findings(
            of: [Self.request("1", "answered", [Self.answer("{}")])], asked: ["1"], taken: taken)
        #expect(!findings.areClean, "\(name)")
    }

    @Test func `The same bytes twice after two attempts are a repeat, and no difference`() {
        let findings = Self.findings(
            of: [Self.request("1", "answered", [Self.answer("{}", attempts: 2)])], asked: ["1"],
            taken: [("1", "{}"), ("1", "{}")])
        #expect(findings.areClean)
        #expect(findings.refundAnswersRepeated == 1)
    }

    @Test(arguments: ["open", "waiting", "failed", "missed"])
    func `Request that was to be answered and is not is a difference`(state: String) {
        let check = RefundCheck(requests: [Self.request("1", state)])
        #expect(Self.findings(of: check.requests, asked: ["1"]).differences.map(\.found) == [state])
        #expect(check.isSettled == ["failed", "missed"].contains(state))
    }

    @Test func `Requests without an answer are counted by reason`() {
        let requests = [
            Self.request("1", "withheld", unanswered: "noAccount"),
            Self.request("2", "unanswered", unanswered: "signedTooLongAgo"),
            Self.request("3", "withheld", unanswered: "noAccount"),
        ]
        let findings = Self.findings(of: requests, asked: ["1", "2", "3"])
        #expect(findings.areClean && RefundCheck(requests: requests).isSettled)
        #expect(findings.refundsUnanswered == ["noAccount": 2, "signedTooLongAgo": 1])
    }

    @Test func `Request of the ledger that the database does not know is a difference`() {
        #expect(Self.findings(of: [], asked: ["1"]).differences.map(\.field) == ["refund request"])
    }

    private static func request(
        _ id: String, _ state: String, _ answers: [RefundCheck.Answer] = [], unanswered: String? = nil
    ) -> RefundCheck.Request {
        RefundCheck.Request(
            environment: .sandbox, transactionId: id, state: state, unanswered: unanswered, answers: answers)
    }

    private static func answer(_ body: String, attempts: Int = 1) -> RefundCheck.Answer {
        RefundCheck.Answer(body: body, attempts: attempts, isSent: true)
    }

    private static func findings(
        of requests: [RefundCheck.Request], asked: [String], taken: [(String, String)] = []
    ) -> CheckFindings {
        var record = RunRecord()
        for (place, id) in asked.enumerated() {
            record.add(
                .notification(
                    RunRecord.Notification(
                        uuid: "\(place)", notificationType: "CONSUMPTION_REQUEST", subtype: nil, environment: .sandbox,
                        bundleId: "com.example.app", originalTransactionId: id, transactionId: id, signedDate: 1,
                        expectedRejection: nil, facts: nil)))
        }
        for (id, body) in taken {
            record.add(
                .refundAnswer(
                    RunRecord.RefundAnswer(
                        environment: .sandbox, bundleId: "com.example.app", transactionId: id, at: 1, version: 2,
                        body: body)))
        }
        var findings = CheckFindings()
        RefundCheck(requests: requests).compare(
            with: record, stored: Set(record.notifications.map(\.uuid)), &findings)
        return findings
    }
}
