/// One thing that is not as the book says.
struct Difference: Sendable, Equatable, Codable {
    /// A notification's uuid, or environment and id of a purchase.
    var of: String
    var field: String
    var book: String?
    var found: String?
}

/// What a comparison came to.
struct CheckFindings: Sendable, Equatable, Codable {
    /// Distinct notifications made, forged ones included.
    var sent = 0
    var forged = 0
    /// Deliveries of what had been accepted already.
    var repetitions = 0
    /// Genuine ones that are stored.
    var inLedger = 0
    /// Purchases whose final facts were compared.
    var purchases = 0
    /// Forged ones in the dead letters, by the reason they were refused for.
    var refusedByReason: [String: Int] = [:]
    /// Never answered 2xx, and neither stored nor refused: Apple would still have them.
    var notAccepted = 0

    /// Genuine, answered 2xx, and nowhere.
    var missing: [String] = []
    /// Stored, but not in the book.
    var unexpected: [String] = []
    /// Stored, although forged.
    var forgedInLedger: [String] = []
    /// Forged, answered 2xx, and not in the dead letters.
    var forgedMissing: [String] = []
    /// Genuine, but in the dead letters, with the reason.
    var wronglyRefused: [String] = []
    /// Stored or believed otherwise than the book says.
    var differences: [Difference] = []
    /// Notifications that had their effect twice.
    var effectsTwice: [String] = []

    /// Whether the ledger equals the book.
    var areClean: Bool {
        missing.isEmpty && unexpected.isEmpty && forgedInLedger.isEmpty && forgedMissing.isEmpty
            && wronglyRefused.isEmpty && differences.isEmpty && effectsTwice.isEmpty
    }
}
