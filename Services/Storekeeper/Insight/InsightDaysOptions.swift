import ArgumentParser
import Contracts

/// The app and the days of figures.
struct InsightDaysOptions: ParsableArguments {
    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Option(help: "Environment of the App Store (default: Production).")
    var environment = StoreEnvironment.production

    @Option(help: "First day, such as 2026-01-31 (default: 12 months before the month of --to).")
    var from: String?

    @Option(help: "End, exclusive, such as 2026-02-28 (default: tomorrow).")
    var to: String?

    var bundleIds: [String]? { app.map { [$0] } }
}
