import AppStore
import ArgumentParser
import Commands

/// `storekeeper token`: a bearer token for other tools.
struct Token: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "token", abstract: "Print a bearer token for Apple's API.",
        discussion: """
            The token (JWT) is valid for some minutes and allows every call of the app's API: keep it out of files and \
            tickets.

            Example: curl -H "Authorization: Bearer $(storekeeper token)" https://api.storekit.itunes.apple.com/…
            """)

    @OptionGroup var apple: AppleOptions

    @Option(help: "Key id (default: the first key of the app).")
    var key: String?

    func run(in context: CommandContext) async throws {
        let (bundleId, keys) = try apple.keys(in: context)
        guard let chosen = keys.first(where: { (key ?? $0.keyId) == $0.keyId }) else {
            throw ValidationError(
                "no key \((key ?? "").escaped): \(bundleId) has \(keys.map(\.keyId).joined(separator: ", "))")
        }
        context.print(try chosen.secretToken(bundleId: bundleId, now: context.now()))
    }
}
