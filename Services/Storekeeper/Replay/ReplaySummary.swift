/// What is put back onto the line, and how much of it can change nothing because the ledger knows it.
struct ReplaySummary: Encodable {
    var dryRun: Bool
    /// Chosen.
    var found: Int
    /// Of them, those whose uuid the ledger has.
    var known: Int
    /// Of them, those that cannot go, because retention has dropped what they said.
    var dropped = 0
    var sent = 0

    /// Those that go.
    var left: Int { found - dropped }

    /// What is about to happen, without a full stop.
    /// - Parameter isOne: the verb of a single one, where it differs.
    func plan(_ noun: String, isOne: String? = nil, _ verb: String) -> String {
        let share =
            switch known {
            case 0: found == 1 ? "not got it" : "none of them"
            case found: "\(found == 1 ? "it" : "all of them") already, so nothing that is believed changes"
            default: "\(known) of them already, which change nothing that is believed"
            }
        return "\(left.counted(noun)) \(left == 1 ? isOne ?? verb : verb); the ledger has \(share)"
    }

    func show(_ text: String, _ output: OutputOptions, in surroundings: Surroundings) throws {
        if output.json { try output.print(json: self, in: surroundings) } else { surroundings.print(text) }
    }
}
