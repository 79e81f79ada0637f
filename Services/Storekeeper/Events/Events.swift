import ArgumentParser

/// `storekeeper events`: what the ledger holds.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "Look at the notifications in the ledger.",
        subcommands: [EventsList.self, EventsShow.self, EventsPurchase.self, EventsTimeline.self])
}
