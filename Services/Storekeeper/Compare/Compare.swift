import ArgumentParser

/// `storekeeper compare`: the other system's answers beside those here.
struct Compare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "compare", abstract: "Compare another system's export with the access here.",
        discussion: """
            Every night, while you move: what both say of each customer, and why they differ. Nothing in a file becomes state. Where \
            the other system has no export, storekeeper compare ask makes the file.

            Examples:
              storekeeper compare export.csv.gz --app com.example.app --environment Production
              storekeeper compare ask ids.txt --system revenuecat --key-file revenuecat.key --app com.example.app
              storekeeper compare list --app com.example.app --cause unexplained
              storekeeper compare report --app com.example.app --days 14
            """,
        subcommands: [CompareRun.self, CompareAsk.self, CompareReport.self, CompareList.self],
        defaultSubcommand: CompareRun.self)
}
