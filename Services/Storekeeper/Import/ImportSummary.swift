import Operations

/// What became of one line of an import.
struct ImportResult: Encodable, Sendable, Equatable {
    var line: Int
    var customerId: String?
    /// `created`, `known`, `conflict`, `invalid` or `failed`.
    var outcome: String
    var reason: String?

    init(line: Int, outcome: String, reason: String?) {
        self.line = line
        self.outcome = outcome
        self.reason = reason
    }

    init(_ row: ImportList.Row, _ outcome: ImportRun.Outcome) {
        line = row.line
        customerId = row.customerId
        self.outcome = outcome.rawValue
        if outcome == .conflict {
            reason = "the customer has another appAccountToken, or this token belongs to another customer"
        }
    }

    /// Whether the customer is stored as the row says.
    var isMapped: Bool { outcome == "created" || outcome == "known" }

    /// With the failures of Apple's answers, by line.
    func joined(_ failed: [Int: String]) -> ImportResult {
        guard let reason = failed[line] else { return self }
        var result = self
        (result.outcome, result.reason) = ("failed", reason)
        return result
    }
}

/// The result of an import, or of its dry run.
struct ImportSummary: Encodable, Sendable {
    var dryRun: Bool
    /// Rows by outcome.
    var outcomes: [String: Int] = [:]
    /// Purchases that the rows name.
    var purchases = 0
    /// Of those, fetched by an earlier run.
    var fetchedBefore = 0
    /// Sent to the pipeline by this run.
    var signedObjects = 0

    init(dryRun: Bool, _ results: [ImportResult]) {
        self.dryRun = dryRun
        count(results)
    }

    mutating func count(_ results: [ImportResult]) {
        outcomes = results.reduce(into: [:]) { $0[$1.outcome, default: 0] += 1 }
    }

    /// Whether every row is imported.
    var isWhole: Bool { outcomes.keys.allSatisfy { $0 == "created" || $0 == "known" } }

    /// As text.
    var sentence: String {
        let rows = outcomes.sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
        guard !dryRun else { return "Nothing was changed. Rows: \(rows.isEmpty ? "none" : rows)." }
        return "Rows: \(rows.isEmpty ? "none" : rows). \(purchases.counted("purchase")), "
            + "\(signedObjects.counted("signed object")) sent to the pipeline."
            + (fetchedBefore == 0 ? "" : " \(fetchedBefore.counted("purchase")) fetched before.")
    }
}
