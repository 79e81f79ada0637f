import ArgumentParser
import Commands

/// `storekeeper dev`: starts `devkit dev`. A broker, a Postgres server and certificates for development are not part of the
/// programs that run in production.
struct Dev: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "dev", abstract: "Run all services locally with a simulated App Store.",
        discussion: """
            Starts devkit, the program for development, with the same options.

            Example: storekeeper dev --count 1000 --seed 7
            """)

    @Argument(parsing: .captureForPassthrough, help: "Options; storekeeper dev --help lists them.")
    var options: [String] = []

    func run(in context: CommandContext) async throws {
        try InstalledBinaries(beside: context.executable).become("devkit", ["dev"] + options)
    }
}
