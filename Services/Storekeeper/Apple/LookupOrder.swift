import AppStore
import ArgumentParser
import Commands
import Foundation
import ServerAPI

/// `storekeeper lookup`: queries of Apple's API.
struct Lookup: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "lookup", abstract: "Look up orders at Apple.",
        discussion: "Example: storekeeper lookup order MVX4Y6ZTQ1 --app com.example.app",
        subcommands: [LookupOrder.self])
}

/// `storekeeper lookup order`: the transactions of an order number.
struct LookupOrder: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "order", abstract: "Show the transactions of an order.",
        discussion: """
            The order number is on the customer's receipt from Apple. Orders exist in Production only. Exit codes: 0 found; \
            1 Apple does not know the order.

            Example: storekeeper lookup order MVX4Y6ZTQ1 --app com.example.app
            """)

    @OptionGroup var apple: AppleOptions
    @OptionGroup var output: OutputOptions

    @Argument(help: "Order number, such as MVX4Y6ZTQ1.")
    var order: String

    func validate() throws {
        if let environment = apple.environment, environment != .production {
            throw ValidationError(
                "--environment \(environment.rawValue) has no orders: only Production has; omit --environment")
        }
    }

    func run(in context: CommandContext) async throws {
        var apple = apple
        apple.environment = apple.environment ?? .production
        let answer = try await apple.withClient(in: context) { try await $0.lookUpOrder(order) }
        guard answer.status == .valid else {
            throw CommandError("Apple knows no order \(order.escaped) of this app: check the number and --app")
        }
        try output.list(
            answer.transactions.map(TransactionRow.init), none: "The order has no transactions.", in: context)
    }
}

/// A row of `storekeeper lookup order`.
struct TransactionRow: ListedRow {
    var transactionId: String?
    var originalTransactionId: String?
    var productId: String?
    var type: String?
    var purchasedAt: Date?
    var expiresAt: Date?
    var revokedAt: Date?
    /// Why verification failed; nil for a verified transaction.
    var rejection: String?

    init(_ item: SignedItem<JWSTransactionDecodedPayload>) {
        transactionId = item.value?.transactionId
        originalTransactionId = item.value?.originalTransactionId
        productId = item.value?.productId
        type = item.value?.type?.rawValue
        purchasedAt = item.value?.purchaseDate
        expiresAt = item.value?.expiresDate
        revokedAt = item.value?.revocationDate
        if case .failure(let rejection) = item.proof {
            self.rejection = "\(rejection.reason.rawValue): \(rejection.message)"
        }
    }

    static let columns: [TextTable.Column] = [
        "transaction", "original", "product", "type", "purchased", "expires", "revoked", "verified",
    ]

    var cells: [String] {
        [
            transactionId ?? "-", originalTransactionId ?? "-", productId ?? "-", type ?? "-", purchasedAt?.text ?? "-",
            expiresAt?.text ?? "-", revokedAt?.text ?? "-", rejection.map { "NO: \($0)" } ?? "yes",
        ]
    }
}
