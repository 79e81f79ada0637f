/// What a backfill came to, or would have to do.
struct BackfillSummary: Encodable, Sendable {
    var dryRun: Bool
    /// In the file, of this app.
    var customers: Int
    /// Of them, those that an earlier run has done.
    var done: Int
    /// Of them, those that were still to be asked about when this run began.
    var left: Int
    /// Asked about.
    var asked = 0
    /// Signed parts put onto the line.
    var parts = 0
    /// By original transaction id: why Apple told nothing, or what could not be proven.
    var refused: [String: String] = [:]
    var unreadableReceipts: Int
    /// Customers of another app.
    var strangers: Int

    init(dryRun: Bool, customers: Int, left: Int, unreadableReceipts: Int, strangers: Int) {
        self.dryRun = dryRun
        self.customers = customers
        self.done = customers - left
        self.left = left
        self.unreadableReceipts = unreadableReceipts
        self.strangers = strangers
    }

    mutating func join(_ tally: BackfillRun.Counts) {
        asked = tally.customers
        parts = tally.parts
        refused = tally.refused
    }

    /// Whether everybody in the file is done.
    var isWhole: Bool { refused.isEmpty && unreadableReceipts == 0 && strangers == 0 }

    /// For people.
    var sentence: String {
        guard !dryRun else { return "\(customers.counted("customer")), \(done) of them done, \(left) left." }
        return "\(asked.counted("customer")), \(parts.counted("signed part")) put onto the line, "
            + "\(refused.count) refused." + (done == 0 ? "" : " \(done) \(done == 1 ? "was" : "were") done before.")
    }
}
