import ArgumentParser

/// `storekeeper offsets`: where the consumer groups continue.
struct Offsets: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "offsets", abstract: "Set where consumer groups begin, or delete stored offsets.",
        discussion: "Example: storekeeper offsets reset --dry-run", subcommands: [OffsetsBegin.self, OffsetsReset.self])
}
