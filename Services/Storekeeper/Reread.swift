import ArgumentParser
import Contracts
import Kafka
import Storage

/// `storekeeper reread`: the state-updater begins again at the earliest record.
struct Reread: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reread", abstract: "Let the state-updater read its topic again from the beginning.",
        discussion: """
            For when the state-updater stopped because the log ends before its stored position. Harmless: what the \
            ledger holds has no effect a second time. Stop the state-updater before and start it afterwards.
            """)

    @OptionGroup var database: DatabaseOptions
    @OptionGroup var kafka: KafkaOptions
    @OptionGroup var hand: HandOptions

    @Flag(help: "Say how many positions are stored, and do nothing.")
    var dryRun = false

    func run(in surroundings: Surroundings) async throws {
        let connection = try database.connection(for: "reread", in: surroundings)
        let admin = try KafkaAdmin(try kafka.configuration(in: surroundings), logger: .silent)
        let cluster = try await admin.clusterId()
        let store = PositionStore(connection)
        let (group, topic) = (Service.stateUpdater.group, Topics.unique.name)
        let stored =
            dryRun
            ? try await store.all(cluster: cluster, group: group).count { $0.topic == topic }
            : try await store.forget(cluster: cluster, group: group, topic: topic)
        guard stored > 0 else {
            throw Failure(
                "the database holds no stored position in cluster \(cluster.visible): is this the cluster that the "
                    + "state-updater reads? Where it is, it begins at the earliest record anyway")
        }
        let positions = stored.counted("stored position")
        guard !dryRun else { return surroundings.print("\(topic): \(positions) would be forgotten.") }
        try await hand.record(
            "reread", on: ["\(topic) of cluster \(cluster)"], to: OperatorActionStore(connection), in: surroundings)
        surroundings.print(
            "\(topic): \(positions) forgotten; start the state-updater. One that still runs reads everything again as "
                + "well, which changes nothing.")
    }
}
