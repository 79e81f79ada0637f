import ArgumentParser
import Bootstrap
import Chassis
import Commands
import Foundation
import Postgres
import Storage

/// `storekeeper retention`: what is kept for how long, and what is due for deletion; deletes it with `--run`.
struct Retention: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "retention",
        abstract: "Show or apply the retention of notifications.",
        discussion: """
            The scheduler applies the same retention by the same variables. Retention drops the decoded and the signed payloads \
            of whole months, never of the last 200 days; the rows of the ledger (the table of all notifications) and the \
            state remain. Exit codes: 0 success; 1 with --run, a month is locked by a reader and was not dropped, or this \
            machine's clock is ahead of the database's and nothing was deleted.

            Examples:
              storekeeper retention
              storekeeper retention --run --note "disk is full"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Days to keep the contents of notifications (default: STOREKEEPER_LEDGER_DAYS, then 400).")
    var ledgerDays: Int?

    @Option(help: "Days to keep seen notificationUUIDs (default: STOREKEEPER_SEEN_DAYS, then 8).")
    var seenDays: Int?

    @Flag(name: .customLong("run"), help: "Delete what is older than these limits.")
    var isRun = false

    func validate() throws {
        for (name, days, range) in [
            ("--ledger-days", ledgerDays, RetentionVariables.ledgerRange),
            ("--seen-days", seenDays, RetentionVariables.seenRange),
        ] where days.map({ !range.contains($0) }) ?? false {
            throw ValidationError("\(name) is out of range: \(range.lowerBound) to \(range.upperBound)")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "retention", in: context)
        if isRun { try await checkClock(connection, in: context) }
        let (store, policy, now) = (RetentionStore(connection), try policy(in: context), context.now())
        let (months, expired) = (try await store.months(), try await store.expired(policy, now: now))
        let due = try await SeenNotificationStore(connection).count(
            before: policy.oldestSeen(now: now), limit: Self.countedSeen)
        let report = isRun ? try await store.run(policy, now: now) : nil
        if let report, !report.dropped.isEmpty {
            try await audit.record(
                "retention --run", on: report.dropped.map(\.name), to: OperatorActionStore(connection), in: context
            )
        }
        let rows = months.map { month in Row(month, Self.state(of: month, expired, report)) }
        if output.json {
            try output.print(json: Summary(policy, months: rows, dueSeen: due, report), in: context)
        } else {
            try output.list(rows, none: "No monthly partitions yet.", in: context)
            context.print(
                "Retention: payloads \(policy.ledgerDays) days, seen notificationUUIDs \(policy.seenDays) days.")
            context.print(
                report.map { "Seen notificationUUIDs deleted: \($0.deletedSeenNotifications)." }
                    ?? "Seen notificationUUIDs due: \(due)\(due < Self.countedSeen ? "" : " or more").")
        }
        if let report, !report.left.isEmpty || !report.unmade.isEmpty {
            throw CommandError(
                "partitions not changed: the table is locked by a reader; end long reports and backups, then run it again"
            )
        }
    }

    /// As the scheduler does before it deletes.
    private func checkClock(_ connection: PostgresConnection, in context: CommandContext) async throws {
        do {
            try await ClockCheck(connection: connection, now: context.unmoved).run()
        } catch let fault as ClockIsAhead {
            throw CommandError(
                "nothing was deleted: this machine's clock is \(fault.seconds) s ahead of the database's, and payloads would "
                    + "go before their time; let both machines follow a time service (NTP), then run it again")
        }
    }

    /// Counting more would take too long.
    private static let countedSeen = 1_000_000

    private static func state(
        of month: RetentionStore.Month, _ expired: [RetentionStore.Month], _ report: RetentionStore.Report?
    ) -> State {
        guard expired.contains(month) else { return .kept }
        guard let report else { return .due }
        return report.dropped.contains(month) ? .dropped : report.left.contains(month) ? .locked : .kept
    }

    private func policy(in context: CommandContext) throws -> RetentionPolicy {
        var environment = context.environment(of: ["STOREKEEPER_LEDGER_DAYS", "STOREKEEPER_SEEN_DAYS"])
        if let ledgerDays { environment["STOREKEEPER_LEDGER_DAYS"] = "\(ledgerDays)" }
        if let seenDays { environment["STOREKEEPER_SEEN_DAYS"] = "\(seenDays)" }
        let settings = try Settings(Variables(), environment: environment)
        return RetentionPolicy(ledgerDays: settings.ledgerDays, seenDays: settings.seenDays)
    }

    private struct Variables: VariableTable {
        let ledgerDays = Variable.ledgerDays
        let seenDays = Variable.seenDays
    }

    /// The state of a month.
    enum State: String, Encodable {
        case kept
        /// A run drops it.
        case due
        case dropped
        /// Locked by a reader.
        case locked
    }

    /// A monthly partition of the ledger.
    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["month", "ends", .number("bytes"), "state"]

        var month: String
        var endsAt: Date
        var bytes: Int64
        var state: State

        init(_ month: RetentionStore.Month, _ state: State) {
            self.month = month.name
            endsAt = month.endsAt
            bytes = month.bytes
            self.state = state
        }

        var cells: [String] { [month, endsAt.text, "\(bytes)", state.rawValue] }
    }

    /// As JSON.
    struct Summary: Encodable {
        var ledgerDays: Int
        var seenDays: Int
        var months: [Row]
        /// Before the run; a million means a million or more.
        var dueSeen: Int
        /// Null without `--run`.
        var deletedSeen: Int?
        /// Months whose partition could not be created, because another transaction held the lock.
        var notCreated: [String]

        init(_ policy: RetentionPolicy, months: [Row], dueSeen: Int, _ report: RetentionStore.Report?) {
            ledgerDays = policy.ledgerDays
            seenDays = policy.seenDays
            self.months = months
            self.dueSeen = dueSeen
            deletedSeen = report?.deletedSeenNotifications
            notCreated = report?.unmade ?? []
        }
    }
}
