import ArgumentParser

/// `storekeeper offsets`: the positions that the state-updater keeps in the database.
struct Offsets: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offsets", abstract: "Delete the state-updater's stored Kafka offsets.",
        discussion: "Example: storekeeper offsets reset --dry-run", subcommands: [OffsetsReset.self])
}
