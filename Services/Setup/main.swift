import Chassis
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "setup", summary: "Creates the topics, migrates the database and exits; other services wait for it.",
    adminAddress: "127.0.0.1:9100", variables: Configuration(),
    flags: [
        "--check":
            """
        compare topics, ACLs, schema, grants and roles with the expected ones, change nothing; exit 1 if they differ. \
        Needs the same variables
        """
    ]
).perform(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let database = PostgresConnection(context.settings.migration, logger: context.logger)
    do {
        try await PoolerCheck(context.settings.migration, logger: context.logger).run()
    } catch let problem as SharedSessions {
        throw ConfigurationProblems([ConfigurationProblem("\(problem)")])
    }
    let admin = try KafkaAdmin(try context.settings.kafka(), logger: context.logger)
    let accessControl = context.settings.aclPrincipals.map { AccessControl(admin: admin, prefix: $0) }
    if context.flag == "--check" {
        let rows = try await Check(
            admin: admin, replicationFactor: context.settings.replicationFactor, accessControl: accessControl,
            migrator: Migrator(database),
            grants: Grants(database), audit: PrivilegeAudit(database)
        ).rows()
        guard !rows.isEmpty else { return print("Topics, schema, grants and roles are as expected.") }
        print(tableText(rows), terminator: "")
        throw SetupDiffers(count: rows.count)
    }
    try await Prepare(
        admin: admin, replicationFactor: context.settings.replicationFactor, accessControl: accessControl,
        migrator: Migrator(database),
        retention: RetentionStore(database), grants: Grants(database), audit: PrivilegeAudit(database),
        now: context.clock.now, logger: context.logger
    ).run()
}
