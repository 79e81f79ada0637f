import ArgumentParser
import Chassis
import Database
import Foundation
import Postgres
import Storage

/// `storekeeper retention`: what is kept for how long, what would go now, and, where somebody says so, drop it now.
struct Retention: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "retention",
        abstract: "Show what the ledger keeps and what its retention would drop, or drop it now.",
        discussion: """
            The scheduler does by itself what --run does, by the same variables; give this command the scheduler's. \
            What is dropped are whole months of what notifications said, with the signed originals: what they were, and \
            everything that was made of them, stays. The sightings that would go are counted up to a million. Nothing that is over for less than 200 days is ever dropped. \
            Exit codes: 0 done; 1 with --run something was left because somebody reads the ledger, or the world failed.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Keep so many days of what notifications said. Default: STOREKEEPER_LEDGER_DAYS, else 400.")
    var ledgerDays: Int?

    @Option(help: "Keep sightings for so many days. Default: STOREKEEPER_SIGHTING_DAYS, else 8.")
    var sightingDays: Int?

    @Flag(name: .customLong("run"), help: "Drop it now.")
    var isRun = false

    func validate() throws {
        for (name, days, range) in [
            ("--ledger-days", ledgerDays, RetentionVariables.ledgerRange),
            ("--sighting-days", sightingDays, RetentionVariables.sightingRange),
        ] where days.map({ !range.contains($0) }) ?? false {
            throw ValidationError("\(name) must lie between \(range.lowerBound) and \(range.upperBound)")
        }
    }

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "retention", in: context)
        let (store, policy, now) = (RetentionStore(connection), try policy(in: context), context.now())
        let (months, expired) = (try await store.months(), try await store.expired(policy, now: now))
        let due = try await SightingStore(connection).count(
            before: policy.oldestSighting(now: now), limit: Self.countedSightings)
        let report = isRun ? try await store.run(policy, now: now) : nil
        if let report, !report.dropped.isEmpty {
            try await audit.record(
                "retention --run", on: report.dropped.map(\.name), to: OperatorActionStore(connection), in: context
            )
        }
        let rows = months.map { month in Row(month, Self.state(of: month, expired, report)) }
        if output.json {
            try output.print(json: Summary(policy, months: rows, dueSightings: due, report), in: context)
        } else {
            try output.list(rows, none: "The ledger has no month of its own yet.", in: context)
            context.print(
                "Kept: \(policy.ledgerDays) days of what notifications said, \(policy.sightingDays) days of sightings.")
            context.print(
                report.map { "Sightings forgotten: \($0.forgotten)." }
                    ?? "Sightings that would go: \(due)\(due < Self.countedSightings ? "" : " or more").")
        }
        if let report, !report.left.isEmpty || !report.unmade.isEmpty {
            throw CommandError(
                "somebody reads the ledger, so months were left; end long reports and backups and run it again")
        }
    }

    /// Nobody waits for more to be counted.
    private static let countedSightings = 1_000_000

    private static func state(
        of month: RetentionStore.Month, _ expired: [RetentionStore.Month], _ report: RetentionStore.Report?
    ) -> State {
        guard expired.contains(month) else { return .kept }
        guard let report else { return .due }
        return report.dropped.contains(month) ? .dropped : report.left.contains(month) ? .left : .kept
    }

    private func policy(in context: CommandContext) throws -> RetentionPolicy {
        var environment = context.environment(of: ["STOREKEEPER_LEDGER_DAYS", "STOREKEEPER_SIGHTING_DAYS"])
        if let ledgerDays { environment["STOREKEEPER_LEDGER_DAYS"] = "\(ledgerDays)" }
        if let sightingDays { environment["STOREKEEPER_SIGHTING_DAYS"] = "\(sightingDays)" }
        let settings = try Settings(Variables(), environment: environment)
        return RetentionPolicy(ledgerDays: settings.ledgerDays, sightingDays: settings.sightingDays)
    }

    private struct Variables: VariableTable {
        let ledgerDays = Variable.ledgerDays
        let sightingDays = Variable.sightingDays
    }

    /// What becomes of a month.
    enum State: String, Encodable {
        case kept
        /// A run would drop it.
        case due
        case dropped
        /// Somebody reads it.
        case left
    }

    /// A month of the ledger.
    struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["month", "ends", .number("bytes"), "is"]

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

    /// For programs.
    struct Summary: Encodable {
        var ledgerDays: Int
        var sightingDays: Int
        var months: [Row]
        /// Before the run; a million stands for whatever is more.
        var dueSightings: Int
        /// Null where nothing was run.
        var forgotten: Int?
        var unmade: [String]

        init(_ policy: RetentionPolicy, months: [Row], dueSightings: Int, _ report: RetentionStore.Report?) {
            ledgerDays = policy.ledgerDays
            sightingDays = policy.sightingDays
            self.months = months
            self.dueSightings = dueSightings
            forgotten = report?.forgotten
            unmade = report?.unmade ?? []
        }
    }
}
