import AppStore
import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage
import StrictJSON

/// `storekeeper advanced-commerce`: changes of purchases by Advanced Commerce, and signed requests for apps.
struct AdvancedCommerce: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "advanced-commerce", abstract: "Change purchases by Advanced Commerce, and sign requests.",
        discussion: """
            Needs Apple's permission for the app. storekeeper events show tells what a notification has of Advanced Commerce.

            Examples:
              storekeeper advanced-commerce call cancel 2000000123456789 request.json --app com.example.app --dry-run
              storekeeper advanced-commerce sign create.json --app com.example.app
            """,
        subcommands: [AdvancedCommerceCall.self, AdvancedCommerceSign.self])
}

/// A file of a request.
enum AdvancedCommerceRequest {
    /// - Returns: the bytes of the JSON object.
    static func read(_ file: String) throws -> [UInt8] {
        let bytes = try RetentionOptions.bytes(of: file)
        guard let root = try? JSONDocument(bytes).root, root.kind == .object else {
            throw CommandError("\(file.escaped) is no JSON object: see Apple's requests of the Advanced Commerce API")
        }
        guard let id = root["requestInfo"]?["requestReferenceId"]?.string, UUID(uuidString: id) != nil else {
            throw CommandError(
                "\(file.escaped) has no requestInfo.requestReferenceId: Apple wants a UUID of every request")
        }
        return Array(root.rawBytes)
    }
}

/// `storekeeper advanced-commerce call`: one of Apple's operations.
struct AdvancedCommerceCall: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "call", abstract: "Ask Apple to change a subscription or to refund.",
        discussion: """
            Operations: \(Operation.allCases.map(\.rawValue).joined(separator: ", ")). The file is Apple's request of the \
            operation. The change shows by its notification. Exit codes: 0 Apple did it; 1 it did not, or it is not known.

            Example: storekeeper advanced-commerce call requestRefund 2000000123456789 refund.json --note "ticket 17"
            """)

    typealias Operation = AppStoreServerAPI.AdvancedCommerceOperation

    @OptionGroup var options: RetentionOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Operation.", transform: AdvancedCommerceCall.read)
    var operation: Operation

    @Argument(help: "Transaction id.")
    var transaction: String

    @Argument(help: "JSON file of the request.")
    var file: String

    @Flag(help: "Print the request; send nothing.")
    var dryRun = false

    static func read(_ text: String) throws -> Operation {
        guard let operation = Operation(rawValue: text) else {
            throw ValidationError(
                "\(text.escaped) is none of \(Operation.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return operation
    }

    func run(in context: CommandContext) async throws {
        let bytes = try AdvancedCommerceRequest.read(file)
        if dryRun { return context.print(PrettyJSON(bytes)?.text ?? "") }
        var rows: [TransactionRow] = []
        try await options.change("\(operation.rawValue)", transaction, as: "advanced-commerce", in: context) { client in
            let outcome = try await client.advancedCommerce(operation, transaction, json: bytes)
            rows = outcome.transaction.map { [TransactionRow($0)] } ?? []
        }
        try output.list(rows, none: "Apple did it, and signed no transaction.", in: context)
    }
}

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
