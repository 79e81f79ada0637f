import ArgumentParser
import Contracts

/// `storekeeper rejected`: the dead letters.
struct Rejected: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rejected", abstract: "Look at the dead letters, put them back, or lay them aside.",
        discussion: """
            Read from the topic \(Topics.rejected.name), which keeps them for 30 days. What was done by hand, by whom and \
            why is kept in the database; storekeeper trail shows it.
            """,
        subcommands: [RejectedList.self, RejectedShow.self, RejectedReplay.self, RejectedResolve.self])
}
