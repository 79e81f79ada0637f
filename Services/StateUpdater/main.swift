import Bootstrap
import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Records
import Storage

await ServiceProcess(
    name: "state-updater", summary: "Stores each notification and updates the state of its purchase, exactly once.",
    adminAddress: "127.0.0.1:9104", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let connection = try await WorkerConnection(
        context, stage: .stateUpdater, reading: Topics.unique.route, of: Topics.plan)
    let database = PostgresConnection(
        context.settings.postgres(for: "state-updater", plansOnce: true), logger: context.logger)
    let positions = StoredPositions(
        PositionStore(database), consumer: connection.consumer, group: ServiceName.stateUpdater.group,
        logger: context.logger)
    let settlement = Apply(
        ledger: LedgerStore(database), outbox: OutboxStore(database), positions: positions, connection: connection,
        now: context.clock.now,
        logger: context.logger)
    // A second connection, so that neither publishing nor what runs beside it delays the worker.
    let background = PostgresConnection(context.settings.postgres(for: "state-updater"), logger: context.logger)
    let publisher = Publisher(
        outbox: OutboxStore(background), leases: LeaseStore(background), producer: connection.producer, holder: UUID(),
        now: context.clock.now, logger: context.logger, patience: context.settings.recoveryPatience)
    // Decoding uses all cores, because the database is idle meanwhile.
    let update = Update(cores: ProcessInfo.processInfo.activeProcessorCount)
    var services = connection.services(running: update, settlement: settlement, startingAt: positions)
    let recalculation = RecalculateAccess(
        recalculation: AccessRecalculation(background), now: context.clock.now, logger: context.logger)
    let announcement = AnnounceTransfers(
        transfers: TransferStore(background), now: context.clock.now, logger: context.logger)
    let policies = ApplyPolicy(
        application: PolicyApplication(background), now: context.clock.now, logger: context.logger)
    let ends = AnnounceEnds(
        ends: AccessEndStore(background),
        clocks: ClockCheck(connection: background, now: context.clock.unmoved),
        patience: context.settings.endPatience, now: context.clock.now, logger: context.logger)
    // After the producer that they need, and before the worker, so that they stop after it.
    services.insert(contentsOf: [publisher, recalculation, announcement, policies, ends] as [any Service], at: 1)
    return [SchemaReadiness(context, service: "state-updater")] + services
}
