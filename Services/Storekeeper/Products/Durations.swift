import ArgumentParser
import Commands
import Storage
import Subscriptions

/// `storekeeper products durations`: how long non-renewing subscriptions give access.
struct Durations: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "durations", abstract: "Show or set how long purchases of non-renewing products give access.",
        discussion: """
            Apple tells no server how long a non-renewing subscription lasts. Until its duration is set here, its purchases \
            give access without an end, and their answers say durationUnknown.

            A duration is written as ISO 8601 writes it, in one unit: PT12H, P30D, P2W, P1M or P1Y. It is stored in the \
            database and holds for every purchase of the product from its purchase date on, earlier ones included: \
            the state-updater computes their access again, in portions; the column "waiting" counts what is left.

            Examples:
              storekeeper products durations --app com.example.app
              storekeeper products durations --app com.example.app season.pass=P1M day.ticket=PT24H
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Argument(
        help: "PRODUCT=DURATION, such as season.pass=P1M; PRODUCT=none makes the duration unknown.",
        transform: ProductSetting.init)
    var settings: [ProductSetting<ProductDuration>] = []

    func validate() throws { try ProductSetting.validate(settings) }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "products", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = ProductStore(connection)
        try await ProductSetting.apply(
            settings, ofApp: app, action: "products durations", audit, connection, in: context
        ) {
            try await store.setDurations($0, ofApp: app)
        }
        try output.list(
            try await store.durations(ofApp: app).map(Row.init),
            none: "No product of \(app.escaped) has a duration or needs one.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [
            "product", "duration", .number("without end"), .number("waiting"),
        ]

        var product: String
        var duration: String?
        var purchasesWithoutEnd: Int
        var purchasesWaiting: Int

        init(_ setting: ProductStore.DurationSetting) {
            product = setting.productId
            duration = setting.duration
            purchasesWithoutEnd = setting.endless
            purchasesWaiting = setting.waiting
        }

        var cells: [String] { [product, duration ?? "unknown", "\(purchasesWithoutEnd)", "\(purchasesWaiting)"] }
    }
}

extension ProductDuration: ProductValue {
    init?(productValue text: String) { self.init(text) }

    static var name: String { "DURATION" }
    static var example: String { "season.pass=P1M" }
    static var requirement: String { "a duration: PT12H, P30D, P2W, P1M and P1Y are, none removes it" }
}
