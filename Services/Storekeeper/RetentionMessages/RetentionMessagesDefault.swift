import AppStore
import ArgumentParser
import Commands
import Foundation
import Operations

/// `storekeeper retention-messages default`: the message of a product and language.
struct RetentionMessagesDefault: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "default", abstract: "Show, set or remove a product's default message.",
        discussion: """
            Without --set and --remove it prints the UUID of the default. Apple takes as default only what it has \
            approved, with approved images. Exit codes: 0 done; 1 there is no default, Apple refused, or did not \
            answer.

            Examples:
              storekeeper retention-messages default pro.monthly en-US
              storekeeper retention-messages default pro.monthly en-US --set 0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0
            """)

    @OptionGroup var options: AppleChangeOptions

    @Argument(help: "Product id of the subscription, as in App Store Connect.")
    var product: String

    @Argument(help: "Language of the customer, one of Apple's locales, such as en-US.")
    var locale: String

    @Option(help: "UUID of the approved message that becomes the default.", transform: UUIDArgument.read)
    var set: UUID?

    @Flag(help: "Remove the default of this product and language.")
    var remove = false

    func validate() throws {
        if set != nil, remove { throw ValidationError("--set and --remove exclude each other") }
    }

    func run(in context: CommandContext) async throws {
        if let set {
            try await options.change("retention-messages default", "\(product) \(locale)", in: context) { client in
                try await client.setDefaultRetentionMessage(set, productId: product, locale: locale)
            }
            context.print("\(set.uuidString.lowercased()) is the default of \(product.escaped) in \(locale.escaped).")
        } else if remove {
            try await options.change("retention-messages default --remove", "\(product) \(locale)", in: context) {
                client in
                try await client.deleteDefaultRetentionMessage(productId: product, locale: locale)
            }
            context.print("\(product.escaped) has no default in \(locale.escaped) now.")
        } else {
            let id = try await options.apple.withClient(in: context) {
                try await $0.defaultRetentionMessage(productId: product, locale: locale)
            }
            context.print(id.escaped)
        }
    }
}
