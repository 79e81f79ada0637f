import Contracts
import Subscriptions
import Testing

struct TimelineDescriptionTests {
    private static let rows: [(fact: String, from: String?, to: String?, transactionId: String?, sentence: String)] = [
        ("status", "1", "2", nil, "The status is expired; it was active."),
        (
            "earlierRevocationDate", nil, "2026-01-02T00:00:00.000Z", "17",
            "The earlier transaction 17 was refunded or revoked on 2026-01-02T00:00:00.000Z."
        ),
        (
            "earlierExpiresDate", nil, "2026-01-02T00:00:00.000Z", "17",
            "The earlier transaction 17 gives access until 2026-01-02T00:00:00.000Z."
        ),
        ("sharedAccount", "a", "b", nil, "The app's account b uses the same Apple account as a."),
        ("newFact", "a", nil, nil, "The newFact was removed; it was a."),
    ]

    @Test(arguments: rows)
    func `Every row of the timeline has a description`(
        fact: String, from: String?, to: String?, transactionId: String?, sentence: String
    ) {
        #expect(Change.sentence(fact: fact, from: from, to: to, transactionId: transactionId) == sentence)
    }
}
