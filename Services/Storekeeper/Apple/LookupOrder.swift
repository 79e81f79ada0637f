import AppStore
import ArgumentParser
import Foundation

/// `storekeeper lookup`: what Apple says.
struct Lookup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Ask Apple about a customer's order.", subcommands: [LookupOrder.self])
}

/// `storekeeper lookup order`: what was bought under the order number of a receipt.
struct LookupOrder: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "order", abstract: "Show what was bought under the order number of a customer's receipt.",
        discussion: "Exits 1 where Apple calls the number invalid. Asks in production, for the sandbox has no orders.")

    @OptionGroup var apple: AppleOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "The order number, such as MVX4Y6ZTQ1.")
    var order: String

    func validate() throws {
        if let environment = apple.environment, environment != .production {
            throw ValidationError("only Production has orders; leave --environment out")
        }
    }

    func run(in context: CommandContext) async throws {
        var apple = apple
        apple.environment = apple.environment ?? .production
        let answer = try await apple.withClient(in: context) { try await $0.lookUpOrder(order) }
        guard answer.status == .valid else {
            throw CommandError("Apple knows no order \(order.escaped) of this app: mistyped, or of another app")
        }
        try output.list(
            answer.transactions.map(TransactionRow.init), none: "The order holds no transactions.", in: context)
    }
}

/// A transaction in an answer of Apple's.
struct TransactionRow: ListedRow {
    var transactionId: String?
    var originalTransactionId: String?
    var productId: String?
    var type: String?
    var purchasedAt: Date?
    var expiresAt: Date?
    var revokedAt: Date?
    /// Nil where it is proven to be Apple's.
    var refusal: String?

    init(_ item: SignedItem<JWSTransactionDecodedPayload>) {
        transactionId = item.value?.transactionId
        originalTransactionId = item.value?.originalTransactionId
        productId = item.value?.productId
        type = item.value?.type?.rawValue
        purchasedAt = item.value?.purchaseDate
        expiresAt = item.value?.expiresDate
        revokedAt = item.value?.revocationDate
        if case .failure(let refusal) = item.proof { self.refusal = "\(refusal.reason.rawValue): \(refusal.message)" }
    }

    static let columns: [TextTable.Column] = [
        "transaction", "original", "product", "type", "purchased", "expires", "revoked", "proven",
    ]

    var cells: [String] {
        [
            transactionId ?? "-", originalTransactionId ?? "-", productId ?? "-", type ?? "-", purchasedAt?.text ?? "-",
            expiresAt?.text ?? "-", revokedAt?.text ?? "-", refusal.map { "NO: \($0)" } ?? "yes",
        ]
    }
}
