import ArgumentParser
import Storage

/// `storekeeper products levels`: which product of a group counts where a customer has several.
struct Levels: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "levels", abstract: "Show or set the level of an app's products within their groups.",
        discussion: """
            As in App Store Connect 1 is the highest level. Of several subscriptions of one group that give access the \
            one with the highest level counts, and a product without a level counts below all that have one; of equal levels \
            the one that lasts longer. Kept in the database, in effect at once. Exit codes: 0 done; 1 the world failed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "The app, by its bundle id.")
    var app: String

    @Argument(help: "PRODUCT=LEVEL, such as pro.yearly=1; PRODUCT=none takes a level back.", transform: Setting.init)
    var settings: [Setting] = []

    func validate() throws {
        guard Set(settings.map(\.product)).count == settings.count else {
            throw ValidationError("a product is named twice")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "products", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        let store = EntitlementStore(connection)
        if !settings.isEmpty {
            try await store.setLevels(
                Dictionary(
                    uniqueKeysWithValues: settings.compactMap { setting in
                        setting.level.map { (setting.product, $0) }
                    }), ofApp: app)
            try await store.removeLevels(of: settings.filter { $0.level == nil }.map(\.product), ofApp: app)
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
            none: "No product of \(app.escaped) has a level: what lasts longer counts.", in: context)
    }

    /// A product and its level; nil takes it back.
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
                throw ValidationError("\(String(last).escaped) is no level: 1 is the highest, none takes it back")
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
