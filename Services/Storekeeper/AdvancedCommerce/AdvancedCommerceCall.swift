import ArgumentParser
import Commands
import Operations
import ServerAPI

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

    @OptionGroup var options: AppleChangeOptions
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
        let outcome = try await options.change("advanced-commerce \(operation.rawValue)", transaction, in: context) {
            try await $0.advancedCommerce(operation, transaction, json: bytes)
        }
        let rows = outcome.transaction.map { [TransactionRow($0)] } ?? []
        try output.list(rows, none: "Apple did it, and signed no transaction.", in: context)
    }
}
