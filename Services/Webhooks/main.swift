import Bootstrap
import Chassis
import Contracts
import Foundation
import Pipeline
import Postgres
import Records
import Storage
import WebhookDelivery

await ServiceProcess(
    name: "webhooks", summary: "Sends each change of a purchase to the endpoints of app backends, signed and in order.",
    adminAddress: "127.0.0.1:9109", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let connection = try await WorkerConnection(
        context, stage: .webhooks, reading: Topics.changed.route, of: Topics.plan)
    func database(_ plansOnce: Bool = true) -> PostgresConnection {
        PostgresConnection(context.settings.postgres(for: "webhooks", plansOnce: plansOnce), logger: context.logger)
    }
    // Four connections: enqueueing, sending, storing what was sent and the upkeep of the log do not wait for one another.
    let enqueueing = database()
    let sender = Sender(
        database(), settling: database(), secrets: try WebhookSecrets(file: context.settings.key),
        context.settings.connections,
        now: context.clock.now, logger: context.logger)
    let looking = database(false)
    let upkeep = Upkeep(
        retention: WebhookRetention(looking), endpoints: WebhookEndpointStore(looking), now: context.clock.now,
        logger: context.logger)
    let positions = StoredPositions(
        PositionStore(enqueueing), consumer: connection.consumer, group: ServiceName.webhooks.group,
        logger: context.logger)
    let settlement = EnqueueSettlement(
        queue: WebhookQueueStore(enqueueing), positions: positions, connection: connection, now: context.clock.now,
        enqueued: { await sender.wake() }, logger: context.logger)
    var services = connection.services(running: Enqueue(), settlement: settlement, startingAt: positions)
    // Before the worker, so that it stops first and what it enqueued last is still sent.
    services.insert(contentsOf: [upkeep, sender] as [any Service], at: 1)
    return [SchemaReadiness(context, service: "webhooks")] + services
}
