import ArgumentParser
import Commands
import Contracts
import Foundation
import Operations
import Storage

/// `storekeeper offsets begin`: on a new cluster, all groups begin at the records since a moment.
struct OffsetsBegin: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "begin", abstract: "Let all consumer groups begin at the records since a time.",
        discussion: """
            For a new Kafka cluster to which the records of another one were copied, such as by MirrorMaker: without it every \
            group begins at the earliest record. Take a time surely before the newest record that the pipeline had stored; \
            a notification that is stored already has no effect a second time. Run setup first, and start the services \
            afterwards. Groups that have offsets in this cluster need --replace; groups with members are never changed.

            Examples:
              storekeeper offsets begin --at 6h --dry-run
              storekeeper offsets begin --at 2026-01-31T12:00:00Z --note "new cluster"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Option(help: "Time of the first record to read: \(TimeArgument.help).")
    var at: TimeArgument

    @Flag(help: "Replace the offsets of groups that have some.")
    var replace = false

    @Flag(help: "Print where each group would begin; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let moment = at.date(now: context.now())
        guard moment <= context.now() else {
            throw ValidationError("--at \(moment.text) is in the future; give the time of a record that was written")
        }
        let connection = try database.connection(for: "offsets begin", in: context)
        let beginning = try BeginOffsets(try kafka.configuration(in: context), connection)
        let plan = try await beginning.plan(since: moment)
        if dryRun {
            try BeginOffsets.check(plan, replacing: replace)
        } else {
            try await beginning.apply(plan, replacing: replace)
            try await audit.record(
                "offsets begin", on: ["records since \(moment.text) of cluster \(plan.cluster)"],
                to: OperatorActionStore(connection), in: context)
        }
        let rows = plan.groups.map(Row.init)
        guard !output.json else {
            return try output.print(
                json: Page(cluster: plan.cluster, since: moment, groups: rows, isStored: !dryRun), in: context)
        }
        try output.list(rows, none: "No groups.", in: context)
        context.print(
            dryRun
                ? "These offsets would be stored in cluster \(plan.cluster.escaped)."
                : "Stored in cluster \(plan.cluster.escaped); start the services.")
    }

    private struct Page: Encodable {
        var cluster: String
        var since: Date
        var groups: [Row]
        var isStored: Bool
    }

    private struct Row: ListedRow {
        static let columns: [TextTable.Column] = ["group", "topic", .number("partitions"), .number("records")]

        var group: String
        var topic: String
        var partitions: Int
        /// From where it begins to the end.
        var records: Int64

        init(_ group: BeginOffsets.Group) {
            self.group = group.group
            topic = group.topic
            partitions = group.positions.count
            records = group.records
        }

        var cells: [String] { [group, topic, "\(partitions)", "\(records)"] }
    }
}
