import ArgumentParser
import Commands
import Contracts

/// An app of one environment.
struct AppOptions: ParsableArguments {
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Option(help: "Environment of the App Store (default: Production).")
    var environment = StoreEnvironment.production
}
