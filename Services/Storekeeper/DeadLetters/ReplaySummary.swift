import Commands

/// How many dead letters are sent, and how many of them change nothing because the ledger has them.
struct ReplaySummary: Encodable {
    var dryRun: Bool
    /// Selected.
    var found: Int
    /// Of those, the ones whose uuid is in the ledger.
    var known: Int
    var sent = 0

    func show(_ text: String, _ output: OutputOptions, in context: CommandContext) throws {
        if output.json { try output.print(json: self, in: context) } else { context.print(text) }
    }
}
