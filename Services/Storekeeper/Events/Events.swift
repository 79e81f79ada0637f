import ArgumentParser

/// `storekeeper events`: the notifications in the ledger.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "List and show notifications in the ledger.",
        subcommands: [EventsList.self, EventsShow.self, EventsPurchase.self, EventsTimeline.self])
}
