import ArgumentParser
import Commands
import Contracts
import Kafka
import Records
import Storage

/// `storekeeper offsets reset`: the state-updater starts again at the earliest record.
struct OffsetsReset: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Delete the state-updater's stored offsets.",
        discussion: """
            The state-updater then reads its topic again from the earliest record; a notification that is stored already has no \
            effect a second time. It does so by itself where it finds that the topic was deleted and created again. Stop the \
            state-updater first and start it afterwards.

            Examples:
              storekeeper offsets reset --dry-run
              storekeeper offsets reset --note "topic was recreated"
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var audit: AuditOptions

    @Flag(help: "Print the number of stored offsets; change nothing.")
    var dryRun = false

    func run(in context: CommandContext) async throws {
        let connection = try database.connection(for: "offsets reset", in: context)
        let admin = try KafkaAdmin(try kafka.configuration(in: context), logger: .silent)
        let cluster = try await admin.clusterId()
        let store = PositionStore(connection)
        let (group, topic) = (ServiceName.stateUpdater.group, Topics.unique.name)
        let stored =
            dryRun
            ? try await store.all(cluster: cluster, group: group).count { $0.topic == topic }
            : try await store.delete(cluster: cluster, group: group, topic: topic)
        guard stored > 0 else {
            throw CommandError(
                "no stored offset for \(topic) in cluster \(cluster.escaped): is this the cluster that the state-updater "
                    + "reads? If so, it starts at the earliest record anyway")
        }
        if !dryRun {
            try await audit.record(
                "offsets reset", on: ["\(topic) of cluster \(cluster)"], to: OperatorActionStore(connection),
                in: context)
        }
        guard !output.json else {
            return try output.print(
                json: Page(cluster: cluster, topic: topic, storedOffsets: stored, isDeleted: !dryRun), in: context)
        }
        let positions = stored.counted("stored offset")
        guard !dryRun else { return context.print("\(topic): \(positions) would be deleted.") }
        context.print(
            "\(topic): \(positions) deleted; start the state-updater. An instance that still runs also reads "
                + "the topic again, which changes nothing.")
    }

    private struct Page: Encodable {
        var cluster: String
        var topic: String
        var storedOffsets: Int
        var isDeleted: Bool
    }
}
