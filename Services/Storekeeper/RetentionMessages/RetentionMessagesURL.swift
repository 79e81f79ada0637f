import AppStore
import ArgumentParser
import Commands
import Operations

/// `storekeeper retention-messages realtime-url`: the address that Apple asks.
struct RetentionMessagesURL: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "realtime-url", abstract: "Show, set or remove the address that Apple asks.",
        discussion: """
            Apple asks it which message to show; in Production only after a performance test in the sandbox has \
            passed. Storekeeper does not answer such requests itself; storekeeper verify proves one that your server \
            kept. Without --set and --remove it prints the address. Exit codes: 0 done; 1 there is no address, Apple \
            refused, or did not answer.

            Example: storekeeper retention-messages realtime-url --set https://example.com/retention --environment Sandbox
            """)

    @OptionGroup var options: AppleChangeOptions

    @Option(help: "The https address of your server, at most 256 characters.")
    var set: String?

    @Flag(help: "Remove the address.")
    var remove = false

    func validate() throws {
        if set != nil, remove { throw ValidationError("--set and --remove exclude each other") }
        if let set, !set.hasPrefix("https://") || set.count > 256 {
            throw ValidationError("--set \(set.escaped) is no https address of at most 256 characters")
        }
    }

    func run(in context: CommandContext) async throws {
        if let set {
            try await options.change("retention-messages realtime-url", set, in: context) {
                try await $0.setRealtimeURL(set)
            }
            context.print("Apple asks \(set.escaped).")
        } else if remove {
            try await options.change("retention-messages realtime-url --remove", "realtime URL", in: context) {
                try await $0.deleteRealtimeURL()
            }
            context.print("Apple asks no address now.")
        } else {
            context.print(try await options.apple.withClient(in: context) { try await $0.realtimeURL() }.escaped)
        }
    }
}
