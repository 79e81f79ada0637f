import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper recover`: fetches a window of Apple's history and recovers missing notifications.
struct Recover: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Recover missing notifications from Apple's history.",
        discussion: """
            Opens one window, a span of Apple's notification history, per app and environment. The scheduler fetches it, \
            the recovery service compares it with the ledger (the table of all notifications) and sends missing \
            notifications through the pipeline, and the command follows until the windows close. Apple keeps 180 days of \
            history (Sandbox: 30). Beyond that, storekeeper backfill imports the purchases of listed customers.

            Exit codes: 0 all is compared, nothing is missing; 1 failed, notifications are missing, or Apple no longer \
            listed the beginning; 130 interrupted: the services continue.

            Examples:
              storekeeper recover --from 2026-01-31 --to 2026-02-01 --dry-run
              storekeeper recover --from 6h --app com.example.app --failures
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Start, by Apple's first delivery attempt: \(TimeArgument.help).")
    var from: TimeArgument

    @Option(help: "End, exclusive (default: now).")
    var to: TimeArgument?

    @Option(help: "Bundle id of the app (default: all apps).")
    var app: String?

    @Option(help: "Environment of the App Store (default: both).")
    var environment: StoreEnvironment?

    @Option(help: "Only this notificationType; without --subtype, notifications that have no subtype.")
    var type: String?

    @Option(help: "Only this subtype.")
    var subtype: String?

    @Flag(help: "Only notifications that Apple could not deliver.")
    var failures = false

    @Flag(help: "Print the windows; open none.")
    var dryRun = false

    @Flag(help: "Open the windows and exit.")
    var noWait = false

    func validate() throws {
        if let environment, ![.production, .sandbox].contains(environment) {
            throw ValidationError("Apple keeps no history of \(environment.rawValue)")
        }
        if subtype != nil, type == nil { throw ValidationError("--subtype needs --type") }
    }

    func run(in context: CommandContext) async throws {
        let now = context.now()
        // The future cannot be missing yet.
        let stretch = try DateRange(from: from, to: .at(min(to?.date(now: now) ?? now, now)), now: now)
        KnownTypeWarning.warn(about: type, in: context)
        let connection = try database.connection(for: "recover", in: context)
        let plan = RecoverPlan(
            from: from.date(now: now), to: stretch.to ?? now, now: now, notificationType: type,
            subtype: subtype, onlyFailures: failures)
        let known = try await CoverageStore(connection).coverage().map { RecoverPlan.App($0.environment, $0.bundleId) }
        let apps = try RecoverPlan.chosen(of: known, app: app, environment: environment)
        let requests = try plan.requests(for: apps, id: context.id)
        plan.warnings(for: apps).forEach { context.warn($0) }
        guard !dryRun else {
            return try output.list(requests.map(PlannedWindowRow.init), none: "", in: context)
        }
        let store = RecoveryWindowStore(connection)
        try await RecoverWindows(requests).perform(on: connection, by: try audit.performer(in: context))
        guard !noWait else { return try await show(requests.map(\.id), store, context) }
        do {
            try await SignalHandler.cancellingOnSignal {
                try await WindowFollower(store: store).follow(requests.map(\.id))
            }
        } catch let interruption as Interrupted {
            context.warn("Interrupted; the services continue: storekeeper coverage --windows shows the progress.")
            throw interruption
        }
        try await show(requests.map(\.id), store, context)
    }

    private func show(_ ids: [UUID], _ store: RecoveryWindowStore, _ context: CommandContext) async throws {
        var filter = RecoveryWindowStore.Filter()
        filter.ids = ids
        let windows = try await store.windows(filter)
        try output.list(windows.map(WindowRow.init), none: "", in: context)
        for window in windows {
            guard let cut = window.cut else { continue }
            context.warn("\(window.scope.bundleId) \(window.scope.environment.rawValue): \(cut)".escaped)
        }
        let isComplete = windows.allSatisfy {
            $0.state != .failed && $0.comparedFrom == nil && ($0.state != .closed || $0.counts.stillMissing <= 0)
        }
        guard isComplete else { throw Exit.failed.code }
    }
}

/// A row of `storekeeper recover --dry-run`.
struct PlannedWindowRow: ListedRow {
    var bundleId: String
    var environment: String
    var from: Date
    var to: Date
    var notificationType: String?
    var subtype: String?
    var onlyFailures: Bool

    init(_ request: RecoveryWindow.Request) {
        bundleId = request.scope.bundleId
        environment = request.scope.environment.rawValue
        from = request.scope.from
        to = request.scope.to
        notificationType = request.scope.notificationType
        subtype = request.scope.subtype
        onlyFailures = request.scope.onlyFailures
    }

    static let columns: [TextTable.Column] = ["app", "environment", "from", "to", "type", "subtype", "only failures"]

    var cells: [String] {
        [
            bundleId, environment, from.text, to.text, notificationType ?? "-", subtype ?? "-",
            onlyFailures ? "yes" : "no",
        ]
    }
}
