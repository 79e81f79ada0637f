import ArgumentParser
import Storage

/// `storekeeper products levels`: service levels within subscription groups.
struct Levels: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "levels", abstract: "Show or set service levels of products.",
        discussion: """
            As in App Store Connect, 1 is the highest level. Of several active subscriptions of one group, the one with \
            the highest level counts; equal levels are ranked by their end. A product without a level is outranked by the \
            same product alone. Stored in the database; effective at once.

            Examples:
              storekeeper products levels --app com.example.app
              storekeeper products levels --app com.example.app pro.yearly=1 basic.yearly=2
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Argument(help: "PRODUCT=LEVEL, such as pro.yearly=1; PRODUCT=none removes the level.", transform: Setting.init)
    var settings: [Setting] = []

    func validate() throws {
        guard Set(settings.map(\.product)).count == settings.count else {
            throw ValidationError("a product occurs twice")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "products", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = ProductStore(connection)
        if !settings.isEmpty {
            try await store.setLevels(
                Dictionary(uniqueKeysWithValues: settings.map { ($0.product, $0.level) }), ofApp: app)
            let auditLog = OperatorActionStore(connection)
            for setting in settings {
                try await audit.record(
                    "products levels \(setting.level.map { "\($0)" } ?? "none")", on: ["\(app) \(setting.product)"],
                    to: auditLog, in: context)
            }
        }
        let rows = try await store.levels(ofApp: app).map { Row(product: $0.key, level: $0.value) }
        try output.list(
            rows.sorted { ($0.level, $0.product) < ($1.level, $1.product) },
            none: "No product of \(app.escaped) has a level; every one that a customer has counts.", in: context)
    }

    /// A product and its level; nil removes it.
    struct Setting: Sendable {
        var product: String
        var level: Int32?

        init(_ text: String) throws {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false)
            guard let last = parts.last, parts.count == 2, !parts[0].isEmpty else {
                throw ValidationError("\(text.escaped) is not PRODUCT=LEVEL, such as pro.yearly=1")
            }
            product = String(parts[0])
            guard last != "none" else { return }
            guard let number = Int32(last), number > 0 else {
                throw ValidationError("\(String(last).escaped) is not a level: 1 is the highest, none removes it")
            }
            level = number
        }
    }

    struct Row: ListedRow {
        static let columns: [TextTable.Column] = [.number("level"), "product"]

        var product: String
        var level: Int32

        var cells: [String] { ["\(level)", product] }
    }
}
