import ArgumentParser

/// `storekeeper products`: facts about an app's products that Apple's notifications do not contain.
struct Products: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products", abstract: "Configure the products of an app.",
        subcommands: [Levels.self, Durations.self])
}
