import Commands

/// How many dead letters are sent, and how many of them change nothing because the ledger has them.
struct ReplaySummary: Encodable {
    var dryRun: Bool
    /// Selected.
    var found: Int
    /// Of those, the ones whose uuid is in the ledger.
    var known: Int
    var sent = 0

    /// What is about to happen, without a full stop.
    /// - Parameter isOne: the verb for one, where it differs.
    func plan(_ noun: String, isOne: String? = nil, _ verb: String) -> String {
        let share =
            switch known {
            case 0: found == 1 ? "does not have it" : "has none of them"
            case found: "has \(found == 1 ? "it" : "all of them") already, so no state changes"
            default: "has \(known) of them already; those change no state"
            }
        return "\(found.counted(noun)) \(found == 1 ? isOne ?? verb : verb); the ledger \(share)"
    }

    func show(_ text: String, _ output: OutputOptions, in context: CommandContext) throws {
        if output.json { try output.print(json: self, in: context) } else { context.print(text) }
    }
}
