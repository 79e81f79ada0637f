import Contracts
import Subscriptions
import Testing

struct TimelineSentenceTests {
    private static let rows: [(fact: String, from: String?, to: String?, transactionId: String?, sentence: String)] = [
        ("status", "1", "2", nil, "The status is expired; it was active."),
        (
            "earlierRevocationDate", nil, "2026-01-02T00:00:00.000Z", "17",
            "The earlier transaction 17 was taken back on 2026-01-02T00:00:00.000Z."
        ),
        (
            "earlierExpiresDate", nil, "2026-01-02T00:00:00.000Z", "17",
            "The earlier transaction 17 runs until 2026-01-02T00:00:00.000Z."
        ),
        ("sharedAccount", "a", "b", nil, "The app's account b was found on the Apple account of a."),
        ("newFact", "a", nil, nil, "The newFact is no longer there; it was a."),
    ]

    @Test(arguments: rows)
    func `every row of the timeline reads as a sentence`(
        fact: String, from: String?, to: String?, transactionId: String?, sentence: String
    ) {
        #expect(Change.sentence(fact: fact, from: from, to: to, transactionId: transactionId) == sentence)
    }
}
