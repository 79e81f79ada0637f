import Commands
import Contracts
import Testing

@testable import Devkit

struct ExpectationTests {
    private static func record() -> RunRecord {
        var record = RunRecord()
        for (uuid, expectedRejection, status) in [("a", nil, 200), ("b", nil, 503), ("f", "signature", 200)] {
            record.add(
                .notification(
                    RunRecord.Notification(
                        uuid: uuid, notificationType: "TEST", subtype: nil, environment: .sandbox, bundleId: "x",
                        originalTransactionId: nil, transactionId: nil, signedDate: 1,
                        expectedRejection: expectedRejection, facts: nil)))
            record.add(
                .attempt(
                    RunRecord.Attempt(
                        uuid: uuid, attempt: 1, at: 0, status: status, failure: nil, isRepetition: false)))
        }
        return record
    }

    private static func measurement(_ number: Int, isSettled: Bool = true) -> Backlog.Measurement {
        Backlog.Measurement(number: number, isSettled: isSettled)
    }

    @Test func `Expectation is met when everything accepted is stored and nothing is on its way`() {
        let expectation = Expectation(record: Self.record(), measurementNumber: 3)
        #expect(expectation.isMet(stored: 1, rejected: ["f"], backlog: Self.measurement(5)))
        #expect(!expectation.isMet(stored: 0, rejected: ["f"], backlog: Self.measurement(5)))
        #expect(!expectation.isMet(stored: 1, rejected: [], backlog: Self.measurement(5)))
        #expect(!expectation.isMet(stored: 1, rejected: ["f"], backlog: Self.measurement(5, isSettled: false)))
    }

    @Test func `Look at the backlog from before the end does not count`() {
        let expectation = Expectation(record: Self.record(), measurementNumber: 3)
        #expect(!expectation.isMet(stored: 1, rejected: ["f"], backlog: Self.measurement(4)))
        #expect(!expectation.isMet(stored: 1, rejected: ["f"], backlog: nil))
    }

    @Test func `Progress stands still when the same count lasts longer than the limit`() {
        var progress = Progress(limit: .seconds(60))
        let start = ContinuousClock.now
        let looks: [(after: Int, mark: Int64)] = [(0, 1), (60, 1), (61, 1), (62, 2), (100, 2)]
        let stands = looks.map { progress.stands(at: start + .seconds($0.after), [$0.mark]) }
        #expect(stands == [false, false, true, false, false])
    }
}
