import ArgumentParser
import Commands
import Foundation

/// `storekeeper simulator`: starts `simulator`, the App Store for development, which is no part of the programs that run in
/// production.
struct SimulatorCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "simulator", abstract: "Buy and trigger events in the simulated App Store.",
        discussion: """
            Starts the program simulator, with the same arguments.

            Examples:
              storekeeper simulator buy premium.monthly --account 7e3fb204-2017-4a4e-8f3b-2f1a5d1f7a7b
              storekeeper simulator trigger REFUND --purchase 2000000012345678
              storekeeper simulator --help
            """)

    @Argument(parsing: .captureForPassthrough, help: "Arguments; simulator --help lists them.")
    var arguments: [String] = []

    func run(in context: CommandContext) async throws {
        try InstalledBinaries(beside: context.executable).become("simulator", arguments)
    }
}
