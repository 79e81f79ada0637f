import ArgumentParser
import Commands
import Contracts

/// The options of commands that list what customers pay.
struct ProductReportOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Environment of the App Store (default: Production).")
    var environment: StoreEnvironment = .production

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @OptionGroup var limits: LimitOptions
}
