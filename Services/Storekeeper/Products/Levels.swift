import ArgumentParser
import Commands
import Storage

/// `storekeeper products levels`: service levels within subscription groups.
struct Levels: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "levels", abstract: "Show or set service levels of products.",
        discussion: """
            As in App Store Connect, 1 is the highest level. Of several active subscriptions of one group, each is listed, \
            and isHighestLevel marks those of the highest level; a product without a level ranks below all that have one. \
            Stored in the database; the API answers by it within a second.

            Examples:
              storekeeper products levels --app com.example.app
              storekeeper products levels --app com.example.app pro.yearly=1 basic.yearly=2
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Argument(
        help: "PRODUCT=LEVEL, such as pro.yearly=1; PRODUCT=none removes the level.", transform: ProductSetting.init)
    var settings: [ProductSetting<Int32>] = []

    func validate() throws { try ProductSetting.validate(settings) }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "products", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = ProductStore(connection)
        try await ProductSetting.apply(settings, ofApp: app, action: "products levels", audit, connection, in: context)
        {
            try await store.setLevels($0, ofApp: app)
        }
        let rows = try await store.levels(ofApp: app).map { Row(product: $0.key, level: $0.value) }
        try output.list(
            rows.sorted { ($0.level, $0.product) < ($1.level, $1.product) },
            none: "No product of \(app.escaped) has a level; none ranks above another.", in: context)
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [.number("level"), "product"]

        var product: String
        var level: Int32

        var cells: [String] { ["\(level)", product] }
    }
}

/// A service level.
extension Int32: ProductValue {
    init?(productValue text: String) {
        guard let level = Int32(text), level > 0 else { return nil }
        self = level
    }

    static var name: String { "LEVEL" }
    static var example: String { "pro.yearly=1" }
    static var requirement: String { "a level: 1 is the highest, none removes it" }
}
