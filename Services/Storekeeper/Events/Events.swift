import ArgumentParser

/// `storekeeper events`: the notifications in the ledger.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "List and show stored notifications.",
        discussion: """
            Examples:
              storekeeper events list --app com.example.app --from 1h
              storekeeper events timeline 2000000123456789
            """,
        subcommands: [EventsList.self, EventsShow.self, EventsPurchase.self, EventsTimeline.self])
}
