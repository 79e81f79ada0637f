import ArgumentParser

/// `storekeeper events`: the notifications in the ledger.
struct Events: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events", abstract: "List and show notifications in the ledger.",
        discussion: """
            Examples:
              storekeeper events list --app com.example.app --from 1h
              storekeeper events timeline 2000000123456789
            """,
        subcommands: [EventsList.self, EventsShow.self, EventsPurchase.self, EventsTimeline.self])
}
