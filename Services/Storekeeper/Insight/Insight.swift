import ArgumentParser

/// `storekeeper insight`: figures of revenue.
struct Insight: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "insight", abstract: "Show, check or rebuild the figures of revenue; load rates and taxes.",
        discussion: """
            The scheduler computes the figures from transactions and access periods, within a minute of a change.

            Examples:
              storekeeper insight show mrr --app com.example.app
              storekeeper insight purchases movements --from 2026-01-01 --to 2026-02-01 --kind churn
              storekeeper insight check --day 2026-10-31
              storekeeper insight rebuild --dry-run
            """,
        subcommands: [
            InsightShow.self, InsightPurchases.self, InsightCorrections.self, InsightCheck.self,
            InsightRebuild.self, InsightRates.self, InsightTaxes.self, InsightSmallBusiness.self,
        ])
}
