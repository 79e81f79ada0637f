import ArgumentParser
import Commands
import ServerAPI
import StrictJSON

/// `storekeeper advanced-commerce sign`: a request that an app hands to StoreKit.
struct AdvancedCommerceSign: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "sign", abstract: "Sign an in-app request for StoreKit.",
        discussion: """
            The file is one of Apple's in-app requests, such as CREATE_SUBSCRIPTION or CREATE_ONE_TIME_CHARGE. Prints the JWS. \
            Backends sign each request when the customer is about to buy.

            Example: storekeeper advanced-commerce sign create.json --app com.example.app
            """)

    @OptionGroup var apple: AppleOptions

    @Argument(help: "JSON file of the request.")
    var file: String

    func run(in context: CommandContext) async throws {
        let bytes = try AdvancedCommerceRequest.read(file)
        guard let root = try? JSONDocument(bytes).root, root["operation"]?.string != nil, root["version"]?.string != nil
        else { throw CommandError("\(file.escaped) has no operation and version: it is no in-app request") }
        let (bundleId, keys) = try apple.keys(in: context)
        guard let key = keys.first else { throw CommandError("there is no API key of \(bundleId)") }
        context.print(
            try OfferSigner(bundleId: bundleId, key: key).advancedCommerceRequest(
                bytes, nonce: context.id(), now: context.now()))
    }
}
