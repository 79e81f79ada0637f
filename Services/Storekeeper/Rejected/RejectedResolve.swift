import ArgumentParser
import Storage

/// `storekeeper rejected resolve`.
struct RejectedResolve: Verb {
    static let configuration = CommandConfiguration(
        commandName: "resolve", abstract: "Lay dead letters aside, with a note that says why.",
        discussion: "They stay in the log until it forgets them, and in the trail for ever.")

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    // As everybody's, but that nothing is laid aside without a reason: so the note is required, and shown as that.
    @Option(name: .customLong("as"), help: "Who does it. Default: the user at the keyboard.")
    var actor: String?

    @Option(help: "Why, in a sentence for whoever reads the trail.")
    var note: String

    @OptionGroup var selected: LetterSelectionOptions

    @Flag(help: "Say how many, and do nothing.")
    var dryRun = false

    func validate() throws {
        if note.allSatisfy(\.isWhitespace) { throw ValidationError("say why with --note") }
    }

    func run(in surroundings: Surroundings) async throws {
        let selection = try selected.selection(now: surroundings.now())
        let connection = try database.connection(for: "rejected resolve", in: surroundings)
        let log = try await DeadLetterLog(try kafka.configuration(in: surroundings))
        let trail = LetterTrail(store: OperatorActionStore(connection), cluster: log.cluster)
        let letters = try await log.selected(selection, trail, in: surroundings)
        await log.close()
        let letterCount = letters.count.counted("dead letter")
        guard !dryRun else {
            return try show(
                "\(letterCount) would be resolved.", Summary(dryRun: true, found: letters.count), surroundings)
        }
        var hand = HandOptions()
        hand.actor = actor
        hand.note = note
        try await hand.record(
            LetterTrail.resolved, on: trail.subjects(letters), to: trail.store, in: surroundings)
        try show("\(letterCount) resolved.", Summary(dryRun: false, found: letters.count), surroundings)
    }

    private func show(_ text: String, _ summary: Summary, _ surroundings: Surroundings) throws {
        if output.json { try output.print(json: summary, in: surroundings) } else { surroundings.print(text) }
    }

    /// For programs.
    struct Summary: Encodable {
        var dryRun: Bool
        var found: Int
    }
}
