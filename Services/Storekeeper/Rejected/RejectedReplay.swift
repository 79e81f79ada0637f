import ArgumentParser

/// `storekeeper rejected replay`.
struct RejectedReplay: Verb {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Put dead letters back onto the line, through all its checks.",
        discussion: """
            For what was refused through our own fault: an app that was not configured, a bug that is mended. A letter \
            that is refused again comes back as a new one. Harmless to repeat: what the ledger knows has no effect a \
            second time, and before anything goes this says how many of them that are.
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var hand: HandOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var letters: LetterSelectionOptions

    @Flag(help: "Say how many, how many of them the ledger knows, and do nothing.")
    var dryRun = false

    func run(in surroundings: Surroundings) async throws {
        try await LetterReplay(kafka: kafka, database: database, hand: hand, output: output, isDry: dryRun)
            .run(try letters.selection(now: surroundings.now()), in: surroundings)
    }
}
