import AppStore
import ArgumentParser

/// `storekeeper token`: for trying Apple's API with another tool.
struct Token: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a token (JWT) for Apple's API, valid for some minutes.",
        discussion: """
            Whoever has it can call the API in the app's name until it expires: it belongs in no file and no ticket. \
            curl -H "Authorization: Bearer $(storekeeper token)" …
            """)

    @OptionGroup var apple: AppleOptions

    @Option(help: "Which key, by its id. Default: the first of the app.")
    var key: String?

    func run(in context: CommandContext) async throws {
        let (bundleId, keys) = try apple.keys(in: context)
        guard let chosen = keys.first(where: { (key ?? $0.keyId) == $0.keyId }) else {
            throw ValidationError("\(bundleId) has the keys \(keys.map(\.keyId).joined(separator: ", "))")
        }
        context.print(try chosen.secretToken(bundleId: bundleId, now: context.now()))
    }
}
