import ArgumentParser

/// `storekeeper customers`: the app's accounts and the Apple accounts they live on.
struct Customers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers", abstract: "Show and decide who is served where an Apple account is shared.",
        discussion: """
            One Apple account can feed several accounts of the app: a family, somebody who made a new account, or a \
            trade. Each is found when its news arrives, told on the timeline (fact sharedAccount) and listed here. Who is \
            served follows from the app's policy: firstWins (the account that claimed first; the default), refuse (none \
            until one is chosen) or allow (all). Accounts that were chosen outweigh the policy on their Apple account.
            """,
        subcommands: [SharedAccounts.self, Policy.self, Choose.self])
}
