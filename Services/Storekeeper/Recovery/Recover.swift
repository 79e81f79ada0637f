import ArgumentParser
import Contracts
import Foundation
import Storage

/// `storekeeper recover`: a stretch of Apple's history is fetched and compared, and what we lack is put onto the line.
struct Recover: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "recover", abstract: "Fetch a stretch of Apple's notification history and mend what is missing.",
        discussion: """
            Opens one window per app and environment; the scheduler fetches them, the recovery service puts back what the \
            ledger lacks. Follows them until they close. Apple keeps 180 days, 30 in the sandbox; what is older comes by \
            storekeeper backfill. Exit codes: 0 closed, nothing is missing; 1 failed, or still missing; 130 interrupted, \
            which stops the looking and not the work.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Apple's first attempt was at or after, \(TimeArgument.help).")
    var from: TimeArgument

    @Option(help: "And before. Default: now.")
    var to: TimeArgument?

    @Option(help: "Only this app, by its bundle id. Default: all that the scheduler knows.")
    var app: String?

    @Option(help: "Only Production or Sandbox. Default: both, where the app has them.")
    var environment: StoreEnvironment?

    @Option(help: "Only this notificationType. Without --subtype Apple lists those that have none.")
    var type: String?

    @Option(help: "Only this subtype.")
    var subtype: String?

    @Flag(help: "Only what Apple could not deliver.")
    var failures = false

    @Flag(help: "Say which windows would be opened, and do nothing.")
    var dryRun = false

    @Flag(help: "Open the windows and do not wait for them.")
    var noWait = false

    func validate() throws {
        if let environment, ![.production, .sandbox].contains(environment) {
            throw ValidationError("Apple keeps no history of \(environment.rawValue)")
        }
        if subtype != nil, type == nil { throw ValidationError("--subtype needs --type") }
    }

    func run(in context: CommandContext) async throws {
        let now = context.now()
        // What is still to come cannot be missing yet.
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
        try await store.open(requests, at: now)
        try await audit.record(
            "recover", on: requests.map(\.subject), to: OperatorActionStore(connection), in: context)
        guard !noWait else { return try await show(requests.map(\.id), store, context) }
        do {
            try await SignalHandler.cancellingOnSignal {
                try await WindowFollower(store: store).follow(requests.map(\.id))
            }
        } catch let interruption as Interrupted {
            context.warn("The looking stops, the work goes on: storekeeper coverage --windows shows it.")
            throw interruption
        }
        try await show(requests.map(\.id), store, context)
    }

    private func show(_ ids: [UUID], _ store: RecoveryWindowStore, _ context: CommandContext) async throws {
        var filter = RecoveryWindowStore.Filter()
        filter.ids = ids
        let windows = try await store.windows(filter)
        try output.list(windows.map(WindowRow.init), none: "", in: context)
        if windows.contains(where: { $0.state == .failed || ($0.state == .closed && $0.counts.stillMissing > 0) }) {
            throw Exit.failed.code
        }
    }
}

/// A window that would be opened.
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

extension RecoveryWindow.Request {
    /// What the trail calls it.
    fileprivate var subject: String {
        let only = [scope.notificationType, scope.subtype, scope.onlyFailures ? "failures" : nil].compactMap { $0 }
        return (["\(scope.bundleId) \(scope.environment.rawValue) \(scope.from.text)/\(scope.to.text)"] + only)
            .joined(separator: " ")
    }
}
