import ArgumentParser

/// `storekeeper products`: what we have to be told of an app's products, because Apple's notifications do not say it.
struct Products: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products", abstract: "Say which product of an app counts for more than another.",
        subcommands: [Levels.self])
}
