import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper coverage`: which days are complete.
struct CoverageCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "coverage", abstract: "Show which days are complete, compared with Apple's history.",
        discussion: """
            A day (UTC) is complete once every notification in Apple's history of that day is in the ledger (the table of \
            all notifications) or among the dead letters (rejected records). Apple no longer lists a day that was given up. Column unreadable \
            counts notifications that this release cannot read: dead letters, to be replayed after an upgrade. A window is a span of Apple's history that is fetched and \
            compared; --windows lists them with their reason: failures (the regular check for failed deliveries), sweep (a day \
            that is over), outage, canary (a test notification did not arrive), manual. Exit codes: 0 complete so far; 1 a day was given up or lacks notifications.

            Examples:
              storekeeper coverage --from 7d
              storekeeper coverage --windows --limit 20 --json
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions

    @Option(help: "First day: \(TimeArgument.help) (default: 30 days ago).")
    var from: TimeArgument?

    @Option(help: "End, exclusive (default: now).")
    var to: TimeArgument?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    @Flag(help: "List windows instead of days, newest first.")
    var windows = false

    @Option(help: "Maximum number of windows, with --windows.")
    var limit = 50

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit \(limit) is out of range: at least 1") }
        if windows, from != nil || to != nil {
            throw ValidationError("--from and --to select days and exclude --windows")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "coverage", in: context)
        guard !windows else {
            var filter = RecoveryWindowStore.Filter()
            filter.environment = environment
            filter.bundleId = app
            filter.onlyWhole = true
            let rows = try await RecoveryWindowStore(connection).windows(filter, limit: limit).map(
                WindowRow.init)
            return try output.list(rows, none: "No windows yet.", in: context)
        }
        let now = context.now()
        let stretch = try DateRange(from: from ?? .ago(30 * 86_400), to: to ?? .ago(0), now: now)
        let days = try await CoverageStore(connection).days(
            from: stretch.from ?? now, to: stretch.to ?? now, environment: environment,
            bundleId: app)
        let rows = days.map(DayRow.init)
        try output.list(
            rows,
            none: """
                No day\(app.map { " of \($0)" } ?? "") from \((stretch.from ?? now).day) to \((stretch.to ?? now).day) was compared with Apple's history. \
                The scheduler begins with a day (UTC) an hour after its end (STOREKEEPER_SWEEP_DELAY), for apps with a key of \
                Apple's API, from the day of their first notification on. What it compares before that: storekeeper coverage \
                --windows
                """,
            in: context)
        if days.contains(where: \.state.needsHelp) { throw Exit.failed.code }
    }
}

/// A row of `storekeeper coverage`.
struct DayRow: ListedRow {
    var day: String
    var bundleId: String
    var environment: String
    /// `complete`, `missing`, `in progress` or `given up`.
    var state: String
    var listed: Int64
    var missing: Int64
    var recovered: Int64
    var rejected: Int64
    var unreadable: Int64
    var stillMissing: Int64
    var completedAt: Date?
    var givenUp: String?

    init(_ day: CoverageDay) {
        self.day = day.day.day
        bundleId = day.bundleId
        environment = day.environment.rawValue
        listed = day.counts.listed
        missing = day.counts.missing
        recovered = day.counts.recovered
        rejected = day.counts.rejected
        unreadable = day.counts.unreadable
        stillMissing = day.counts.stillMissing
        completedAt = day.completedAt
        givenUp = day.givenUp
        state = day.state.rawValue
    }

    static let columns: [TextTable.Column] = [
        "day", "app", "environment", "state", .number("listed"), .number("were missing"), .number("recovered"),
        .number("rejected"), .number("unreadable"), .number("still missing"), "since", "why",
    ]

    var cells: [String] {
        [
            day, bundleId, environment, state, "\(listed)", "\(missing)", "\(recovered)", "\(rejected)",
            "\(unreadable)",
            "\(stillMissing)", completedAt?.text ?? "-", givenUp ?? "-",
        ]
    }
}

/// A row of `storekeeper coverage --windows`.
struct WindowRow: ListedRow {
    var id: String
    var bundleId: String
    var environment: String
    var from: Date
    var to: Date
    var notificationType: String?
    var subtype: String?
    var onlyFailures: Bool
    var reason: String
    var state: String
    var subwindows: Int
    var pages: Int
    var listed: Int64
    var missing: Int64
    var recovered: Int64
    var rejected: Int64
    var unreadable: Int64
    var stillMissing: Int64
    var attempts: Int
    var openedAt: Date
    var fetchedAt: Date?
    var closedAt: Date?
    var comparedFrom: Date?
    var lastError: String?

    init(_ window: RecoveryWindow) {
        id = window.id.uuidString.lowercased()
        bundleId = window.scope.bundleId
        environment = window.scope.environment.rawValue
        from = window.scope.from
        to = window.scope.to
        notificationType = window.scope.notificationType
        subtype = window.scope.subtype
        onlyFailures = window.scope.onlyFailures
        reason = window.reason.rawValue
        state = window.state.rawValue
        subwindows = window.subwindows
        pages = window.pages
        listed = window.counts.listed
        missing = window.counts.missing
        recovered = window.counts.recovered
        rejected = window.counts.rejected
        unreadable = window.counts.unreadable
        stillMissing = window.counts.stillMissing
        attempts = window.attempts
        openedAt = window.createdAt
        fetchedAt = window.fetchedAt
        closedAt = window.closedAt
        comparedFrom = window.comparedFrom
        lastError = window.lastError ?? window.cut
    }

    /// Of what was asked for its own reason, whether only failures were.
    private var cause: String {
        let isSaid = reason == RecoveryWindow.Reason.failures.rawValue
        return onlyFailures && !isSaid ? "\(reason), failures" : reason
    }

    static let columns: [TextTable.Column] = [
        "opened", "app", "environment", "from", "to", "reason", "state", .number("listed"), .number("were missing"),
        .number("recovered"), .number("rejected"), .number("unreadable"), "closed", "last error",
    ]

    var cells: [String] {
        [
            openedAt.text, bundleId, environment, from.text, to.text, cause,
            state, "\(listed)", "\(missing)", "\(recovered)", "\(rejected)", "\(unreadable)", closedAt?.text ?? "-",
            lastError ?? "-",
        ]
    }
}
