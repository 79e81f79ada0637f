import ArgumentParser

/// `storekeeper external-purchases`: tokens of purchases outside the App Store, and the reports about them.
struct ExternalPurchases: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "external-purchases", abstract: "List external purchase tokens and report them.",
        discussion: """
            An app that offers purchases outside the App Store has to report every token that Apple gives it, also those by \
            which nothing was bought. Apple sends EXTERNAL_PURCHASE_TOKEN UNREPORTED where it has no report.

            Examples:
              storekeeper external-purchases list --due
              storekeeper external-purchases report SANDBOX_0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0 --status NO_LINE_ITEM
            """,
        subcommands: [ExternalPurchasesList.self, ExternalPurchasesReport.self, ExternalPurchasesShow.self])
}
