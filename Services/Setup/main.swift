import Chassis
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "setup", summary: "Creates the topics, migrates the database, and ends; everything else waits for it.",
    adminAddress: "127.0.0.1:9100", variables: Configuration()
).perform(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let database = PostgresConnection(context.settings.migration, logger: context.logger)
    try await Prepare(
        admin: try KafkaAdmin(try context.settings.kafka(), logger: context.logger),
        replicationFactor: context.settings.replicationFactor, migrator: Migrator(database),
        retention: RetentionStore(database), grants: Grants(database), audit: PrivilegeAudit(database),
        now: context.clock.now, logger: context.logger
    ).run()
}
