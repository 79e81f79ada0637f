import ArgumentParser

/// `storekeeper customers`: customers by the developer's own ids, and accounts that share an Apple account.
struct Customers: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "customers", abstract: "Show and change customers; list and resolve shared Apple accounts.",
        discussion: """
            A customer is an account of your app under your own id; each has one appAccountToken, by which Apple names the \
            account in every transaction. Apple's documentation also calls the owner of an Apple account a customer.

            Several accounts of the app can use purchases of one Apple account: a family, a customer with a new account, \
            or account trading. Each case appears in the timeline (as sharedAccount) and in storekeeper customers \
            shared. The app's policy decides which accounts are entitled: firstWins (the first account; default), refuse \
            (none until one is chosen), allow (all, at most ten unless it says otherwise), \
            lastRestoreWins (the account that restored a purchase last) or lastRestoreWinsIfLapsed (the same, but only a \
            restore of a lapsed purchase counts). Chosen accounts override the policy.

            Examples:
              storekeeper customers show user-4711 --app com.example.app --environment Production
              storekeeper customers shared --app com.example.app
              storekeeper customers policy --app com.example.app refuse
            """,
        subcommands: [
            ShowCustomer.self, CustomerApps.self, CustomerBalance.self, AddCustomer.self, RemoveCustomer.self,
            DetachCustomer.self,
            EraseCustomerCommand.self,
            GrantCustomer.self, RevokeCustomerGrant.self,
            SharedAccounts.self, Policy.self, Choose.self,
        ])
}
