/// A difference from the run record.
struct Difference: Sendable, Equatable, Codable {
    /// notificationUUID, or environment and id of a purchase.
    var of: String
    var field: String
    var expected: String?
    var found: String?
}

/// The result of the comparison.
struct CheckFindings: Sendable, Equatable, Codable {
    /// Distinct notifications, including forged ones.
    var sent = 0
    var forged = 0
    /// Repeated deliveries of accepted notifications.
    var repetitions = 0
    /// Genuine notifications in the ledger.
    var inLedger = 0
    /// Purchases whose final state was compared.
    var purchases = 0
    /// Purchases whose access was compared over all time.
    var accesses = 0
    /// Forged notifications among the dead letters, by reason.
    var rejectedByReason: [String: Int] = [:]
    /// Never answered 2xx, neither stored nor rejected: Apple would still send them.
    var notAccepted = 0

    /// Transactions about which Apple asked for consumption information.
    var refundRequests = 0
    /// Those of which it took an answer.
    var refundsAnswered = 0
    /// Repeats of an answer, with the same bytes.
    var refundAnswersRepeated = 0
    /// Those that get no answer, by reason.
    var refundsUnanswered: [String: Int] = [:]

    /// Genuine, answered 2xx, and lost.
    var missing: [String] = []
    /// Stored, but not in the run record.
    var unexpected: [String] = []
    /// Stored, although forged.
    var forgedInLedger: [String] = []
    /// Forged, answered 2xx, and not in the dead letters.
    var forgedMissing: [String] = []
    /// Genuine, but rejected, with the reason.
    var wronglyRejected: [String] = []
    /// Ledger or state that differs from the run record.
    var differences: [Difference] = []
    /// Notifications that took effect twice.
    var effectsTwice: [String] = []

    /// Whether the ledger equals the run record.
    var areClean: Bool {
        missing.isEmpty && unexpected.isEmpty && forgedInLedger.isEmpty && forgedMissing.isEmpty
            && wronglyRejected.isEmpty && differences.isEmpty && effectsTwice.isEmpty
    }
}
