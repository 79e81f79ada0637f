import ArgumentParser

/// `storekeeper customers`: accounts of the app that share an Apple account.
struct Customers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers", abstract: "List and resolve shared Apple accounts.",
        discussion: """
            Several accounts of the app can use purchases of one Apple account: a family, a customer with a new account, \
            or account trading. Each case appears in the timeline (fact sharedAccount) and in storekeeper customers \
            shared. The app's policy decides which accounts are entitled: firstWins (the first account; default), refuse \
            (none until one is chosen) or allow (all). Chosen accounts override the policy.

            Examples:
              storekeeper customers shared --app com.example.app
              storekeeper customers policy --app com.example.app refuse
            """,
        subcommands: [SharedAccounts.self, Policy.self, Choose.self])
}
