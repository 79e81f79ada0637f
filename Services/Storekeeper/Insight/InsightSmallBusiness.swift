import ArgumentParser
import Commands
import Operations
import Storage

/// `storekeeper insight small-business`: who pays Apple's lower commission, for estimates of proceeds.
struct InsightSmallBusiness: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "small-business", abstract: "Set or list membership in the Small Business Program.",
        discussion: "Example: storekeeper insight small-business list",
        subcommands: [InsightSmallBusinessSet.self, InsightSmallBusinessList.self])
}

/// `storekeeper insight small-business set`
struct InsightSmallBusinessSet: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Set whether an app's commission is 15 % from a day on.",
        discussion: """
            Apple's App Store Small Business Program: a member pays 15 % of the price without tax; others pay 30 %, and 15 % after a \
            year of paid service. Counts until the next day that is set. Changes estimates alone.

            Examples:
              storekeeper insight small-business set --app com.example.app --since 2026-01-01
              storekeeper insight small-business set --app com.example.app --since 2027-01-01 --no-member
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Bundle id of the app.")
    var app: String

    @Option(help: "First day, such as 2026-01-31.")
    var since: String

    @Flag(inversion: .prefixedNo, help: "Whether the developer is a member from that day on.")
    var member = true

    @Flag(help: "Print what would change; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let operation = try SetSmallBusiness(member, of: app, since: since)
        let connection = try database.connection(for: "insight", in: context)
        try await KnownAppsWarning(connection: connection).warn(about: app, in: context)
        guard !dryRun else { return try operation.plan().show(output, in: context) }
        try await operation.perform(on: connection, by: try audit.performer(in: context))
        guard !output.json else { return try output.print(json: ["member": member], in: context) }
        context.print("\(app.escaped) is \(member ? "a member" : "no member") since \(since.escaped).")
    }
}

/// `storekeeper insight small-business list`
struct InsightSmallBusinessList: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List memberships in the Small Business Program.",
        discussion: "Example: storekeeper insight small-business list")

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "insight", in: context)
        try output.list(
            try await ProceedsTermsStore(connection).memberships().map(Row.init),
            none: "No app is a member: commission counts as 30 %, and 15 % after a year of paid service.", in: context)
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["app", "since", "member"]

        var app: String
        var since: String
        var isMember: Bool

        init(_ membership: ProceedsTermsStore.Membership) {
            (app, isMember) = (membership.bundleId, membership.isMember)
            since = FigureQuestion.text(membership.firstDay)
        }

        var cells: [String] { [app, since, isMember ? "yes" : "no"] }
    }
}
