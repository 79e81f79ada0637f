import ArgumentParser

/// `storekeeper console`: access to the console.
struct ConsoleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console", abstract: "Sign people in to the console, and out.",
        discussion: "Example: storekeeper console login --as ann --role support",
        subcommands: [ConsoleLogin.self, ConsoleSessionList.self, ConsoleEnd.self])
}
