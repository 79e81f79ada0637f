import ArgumentParser
import Commands
import Operations
import Storage

/// `storekeeper dead-letters dismiss`.
struct DeadLettersDismiss: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss", abstract: "Dismiss dead letters that need no replay.",
        discussion: """
            They stay in the topic until its retention deletes them; the audit log keeps the note.

            Examples:
              storekeeper dead-letters dismiss 3/17 --note "forged"
              storekeeper dead-letters dismiss --all --reason signature --note "port scan of 21 November"
            """)

    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    // Like AuditOptions, with a required note: a dismissal without a reason helps no reader of the audit log.
    @Option(help: "Operator name for the audit log (default: current user).")
    var actor: String?

    @Option(help: "Reason, for the audit log.")
    var note: String

    @OptionGroup var selected: DeadLetterSelectionOptions

    @Flag(help: "Print the number of dead letters; change nothing.")
    var dryRun = false

    func validate() throws {
        if note.allSatisfy(\.isWhitespace) { throw ValidationError("--note is empty; give the reason") }
    }

    func run(in context: CommandContext) async throws {
        let selection = try selected.selection(now: context.now())
        let connection = try database.connection(for: "dead-letters dismiss", in: context)
        let log = try await DeadLetterLog(try kafka.configuration(in: context))
        let auditLog = DeadLetterActions(store: OperatorActionStore(connection), cluster: log.cluster)
        let deadLetters = try await log.selected(selection, auditLog, in: context)
        await log.close()
        let deadLetterCount = deadLetters.count.counted("dead letter")
        guard !dryRun else {
            return try show(
                "\(deadLetterCount) would be dismissed.", Summary(dryRun: true, found: deadLetters.count), context)
        }
        var audit = AuditOptions()
        audit.actor = actor
        audit.note = note
        try await DismissDeadLetters(.chosen(deadLetters, cluster: log.cluster)).perform(
            on: connection, by: try audit.performer(in: context))
        try show("\(deadLetterCount) dismissed.", Summary(dryRun: false, found: deadLetters.count), context)
    }

    private func show(_ text: String, _ summary: Summary, _ context: CommandContext) throws {
        if output.json { try output.print(json: summary, in: context) } else { context.print(text) }
    }

    /// With `--json`.
    struct Summary: Encodable {
        var dryRun: Bool
        var found: Int
    }
}
