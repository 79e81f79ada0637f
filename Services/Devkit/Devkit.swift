import ArgumentParser
import Commands

/// The root of `devkit`: what development and tests need, and no production deployment has.
struct Devkit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run and check Storekeeper on one machine, without Apple.",
        discussion: """
            For development and tests, never for production.

            Examples:
              devkit dev
              devkit check --record record.jsonl

            \(Exit.table)
            """,
        subcommands: [Dev.self, CheckRun.self, Broker.self])
}
