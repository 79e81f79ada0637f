/// The result of a backfill, or of its dry run.
struct BackfillSummary: Encodable, Sendable {
    var dryRun: Bool
    /// Customers of this app and environment in the file.
    var customers: Int
    /// Of those, imported by an earlier run.
    var done: Int
    /// Of those, not yet imported when this run began.
    var left: Int
    /// Fetched by this run.
    var asked = 0
    /// Signed objects sent to the pipeline.
    var signedObjects = 0
    /// Failed customers by original transaction id, with the reason.
    var rejected: [String: String] = [:]
    var unreadableReceipts: Int
    /// Customers of another app or environment.
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
        signedObjects = tally.signedObjects
        rejected = tally.rejected
    }

    /// Whether every customer in the file is imported.
    var isWhole: Bool { rejected.isEmpty && unreadableReceipts == 0 && strangers == 0 }

    /// As text.
    var sentence: String {
        guard !dryRun else { return "\(customers.counted("customer")), \(done) imported, \(left) left." }
        return "\(asked.counted("customer")), \(signedObjects.counted("signed object")) sent to the pipeline, "
            + "\(rejected.count) failed." + (done == 0 ? "" : " \(done) \(done == 1 ? "was" : "were") imported before.")
    }
}
