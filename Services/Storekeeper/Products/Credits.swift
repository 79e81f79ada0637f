import ArgumentParser
import Commands
import Storage

/// `storekeeper products credits`: what consumables give.
struct Credits: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "credits", abstract: "Show or set what one consumable of a product gives.",
        discussion: """
            A backend credits each transaction once (POST /v1/transactions/{transactionId}/credit): its quantity times the amount \
            that is set here, in the unit that is set here. Without a setting a product gives one of itself. A change holds \
            for what is credited afterwards, in all environments.

            Examples:
              storekeeper products credits --app com.example.app
              storekeeper products credits --app com.example.app coins.small=100:coins coins.large=550:coins
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Argument(
        help: "PRODUCT=AMOUNT:UNIT, such as coins.small=100:coins; PRODUCT=none: it gives one of itself.",
        transform: ProductSetting.init)
    var settings: [ProductSetting<CreditValue>] = []

    func validate() throws { try ProductSetting.validate(settings) }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "products", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = ProductStore(connection)
        try await ProductSetting.apply(settings, ofApp: app, action: "products credits", audit, connection, in: context)
        { values in
            let set = values.compactMap { product, value in
                value.map { ProductStore.CreditSetting(productId: product, amount: $0.amount, unit: $0.unit) }
            }
            try await store.setCredits(set, removing: values.filter { $0.value == nil }.map(\.key), ofApp: app)
        }
        try output.list(
            try await store.credits(ofApp: app).map(Row.init),
            none: "No product of \(app.escaped) has an amount; each consumable gives one of itself.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["product", .number("amount"), "unit"]

        var product: String
        var amount: Int64
        var unit: String

        init(_ setting: ProductStore.CreditSetting) {
            product = setting.productId
            amount = setting.amount
            unit = setting.unit
        }

        var cells: [String] { [product, "\(amount)", unit] }
    }
}

/// An amount with its unit, written `AMOUNT:UNIT`.
struct CreditValue: ProductValue, Equatable {
    /// More would not be counted exactly by every client.
    static let mostAmount: Int64 = 1_000_000_000_000

    let amount: Int64
    let unit: String

    init?(productValue text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, let amount = Int64(parts[0]), 1...Self.mostAmount ~= amount,
            1...64 ~= parts[1].utf8.count
        else { return nil }
        (self.amount, unit) = (amount, String(parts[1]))
    }

    var description: String { "\(amount):\(unit)" }

    static var name: String { "AMOUNT:UNIT" }
    static var example: String { "coins.small=100:coins" }
    static var requirement: String { "an amount from 1 with its unit: 100:coins is, none removes it" }
}
