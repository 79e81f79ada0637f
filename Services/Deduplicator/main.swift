import Bootstrap
import Chassis
import Contracts
import Foundation
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "deduplicator", summary: "Drops repeated notificationUUIDs and passes on the rest.",
    adminAddress: "127.0.0.1:9103", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let connection = try await WorkerConnection(
        context, stage: .deduplicator, reading: Topics.verified.route, of: Topics.plan)
    let database = PostgresConnection(
        context.settings.postgres(for: "deduplicator", plansOnce: true), logger: context.logger)
    let parts = connection.services(
        running: Deduplicate(seen: SeenNotificationStore(database), now: context.clock.now),
        settlement: KafkaSettlement(connection, to: Topics.unique))
    return [SchemaReadiness(context, service: "deduplicator")] + parts
}
