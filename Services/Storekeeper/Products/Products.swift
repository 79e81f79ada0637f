import ArgumentParser

/// `storekeeper products`: facts about an app's products that Apple's notifications do not contain.
struct Products: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "products", abstract: "Configure the products of an app, and show their prices.",
        discussion: """
            Examples:
              storekeeper products levels --app com.example.app pro.yearly=1 basic.yearly=2
              storekeeper products durations --app com.example.app season.pass=P1M
              storekeeper products credits --app com.example.app coins.small=100:coins
              storekeeper products prices --app com.example.app
            """,
        subcommands: [
            Levels.self, Durations.self, Credits.self, Prices.self, OldPrices.self, PriceChanges.self, OfferCodes.self,
        ])
}
