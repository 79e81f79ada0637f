import ArgumentParser

/// `storekeeper extend`: more days for subscribers.
struct Extend: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "extend", abstract: "Give subscribers more days before the next renewal.",
        subcommands: [ExtendPurchase.self, ExtendProduct.self, ExtendStatus.self],
        defaultSubcommand: ExtendPurchase.self)
}
