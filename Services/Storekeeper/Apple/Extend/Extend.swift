import ArgumentParser

/// `storekeeper extend`: renewal date extensions.
struct Extend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend", abstract: "Extend subscription renewal dates.",
        discussion: """
            Examples:
              storekeeper extend 2000000123456789 --days 3 --reason satisfaction
              storekeeper extend product pro.monthly --days 3 --reason outage --storefront DEU
            """,
        subcommands: [ExtendPurchase.self, ExtendProduct.self, ExtendStatus.self],
        defaultSubcommand: ExtendPurchase.self)
}
