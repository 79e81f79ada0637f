import ArgumentParser
import Contracts
import Foundation
import Kafka
import Logging
import Postgres
import Storage

/// `storekeeper reread`: the state-updater begins again at the earliest record.
struct Reread: Verb {
    static let configuration = CommandConfiguration(
        commandName: "reread", abstract: "Let the state-updater read its topic again from the beginning.",
        discussion: """
            For when the state-updater stopped because the log ends before its stored position. Harmless: what the \
            ledger holds has no effect a second time. Stop the state-updater before and start it afterwards. Takes \
            KAFKA_BOOTSTRAP_SERVERS, other KAFKA_ settings and DATABASE_URL from the environment.
            """)

    @Option(help: "The schema that holds the tables.")
    var schema = "public"

    func run(in surroundings: Surroundings) async throws {
        let environment = ProcessInfo.processInfo.environment
        guard let brokers = environment["KAFKA_BOOTSTRAP_SERVERS"], let url = environment["DATABASE_URL"] else {
            throw Failure("Set KAFKA_BOOTSTRAP_SERVERS and DATABASE_URL to those of the state-updater.")
        }
        let logger = Logger(label: "storekeeper.reread")
        let admin = try KafkaAdmin(
            try KafkaConfiguration(environment: environment, fallback: brokers), logger: logger)
        let connection = PostgresConnection(
            PostgresConfiguration(url: url, applicationName: "storekeeper reread", schema: schema), logger: logger)
        let forgotten = try await PositionStore(connection).forget(
            cluster: try await admin.clusterId(), group: Service.stateUpdater.group, topic: Topics.unique.name)
        print("\(Topics.unique.name): \(forgotten) stored positions forgotten; start the state-updater.")
    }
}
