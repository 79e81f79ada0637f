import ArgumentParser
import Contracts

/// `storekeeper dead-letters`: records that a stage rejected.
struct DeadLetters: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dead-letters", abstract: "List, replay or dismiss dead letters.",
        discussion: """
            A dead letter is a record that a stage rejected, with its original bytes and the reason. The topic \
            \(Topics.rejected.name) keeps it for 30 days. Replays and dismissals are recorded in the audit log \
            (storekeeper audit).

            Examples:
              storekeeper dead-letters list --reason app-unknown
              storekeeper dead-letters show 3/17
              storekeeper dead-letters replay --all --reason app-unknown --dry-run
              storekeeper dead-letters dismiss 3/17 --note "forged"
            """,
        subcommands: [DeadLettersList.self, DeadLettersShow.self, DeadLettersReplay.self, DeadLettersDismiss.self])
}
