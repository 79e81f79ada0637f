import ArgumentParser

/// `storekeeper console`: access to the console.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Sign people in to the console.", subcommands: [ConsoleLogin.self])
}
