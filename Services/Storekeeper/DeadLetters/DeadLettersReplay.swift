import ArgumentParser
import Commands

/// `storekeeper dead-letters replay`.
struct DeadLettersReplay: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "replay", abstract: "Send dead letters through the pipeline again.",
        discussion: """
            For records that were rejected wrongly: the app was not configured yet, or a bug is fixed now. They pass all \
            checks again; a record that is rejected again becomes a new dead letter. Safe to repeat: a notification that \
            is stored already has no effect a second time. The command prints how many those are before it sends.

            Examples:
              storekeeper dead-letters replay 3/17 --note "app is configured now"
              storekeeper dead-letters replay --all --stage verifier --dry-run
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var audit: AuditOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var deadLetters: DeadLetterSelectionOptions

    @Flag(help: "Print how many would be sent, and how many of them are stored already; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        try await DeadLetterReplay(kafka: kafka, database: database, audit: audit, output: output, isDry: dryRun)
            .run(try deadLetters.selection(now: context.now()), in: context)
    }
}
