import ArgumentParser

/// `storekeeper extend`: renewal date extensions.
struct Extend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend", abstract: "Extend subscription renewal dates.",
        discussion: "Options and examples: storekeeper help extend SUBCOMMAND",
        subcommands: [ExtendPurchase.self, ExtendProduct.self, ExtendStatus.self],
        defaultSubcommand: ExtendPurchase.self)
}
