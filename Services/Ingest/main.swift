import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline

await ServiceProcess(
    name: "ingest", summary: "Receives Apple's notifications and answers 200 once Kafka holds them.",
    adminAddress: "127.0.0.1:9101", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let settings = context.settings
    let limits = settings.limits
    // Each request brings one record; ten that are gathered compress to a ninth.
    let kafka = try settings.kafka().preferring(["linger.ms": "3"])
    // Apple repeats what Kafka acknowledges later anyway: it was answered 503.
    let producerService = try ProducerService(
        kafka, for: .ingest, of: Topics.plan, messageTimeout: limits.acknowledgement,
        logger: context.logger)
    let producer = producerService.producer
    let tally = Tally()
    let isWarm = context.health.readinessCheck("kafka")
    let logger = context.logger
    let confirming = ConfirmingReplicas(
        admin: try KafkaAdmin(kafka, patience: .seconds(5), logger: logger), logger: logger)
    let (floods, flood) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    return [
        producerService,
        FloodRelief(floods: floods, wait: { try await Task.sleep(for: $0) }, giveBack: giveMemoryBack),
        WarmUp(producer: producer, check: confirming.check) {
            isWarm.passes()
            logger.info("Kafka is reachable; ready for notifications")
        } failed: { error in
            isWarm.fails("Kafka cannot take notifications: \(error)")
            logger.warning("Kafka cannot take notifications; retrying", metadata: ["error": "\(error)"])
        },
        Heartbeat(
            instance: context.instance, tally: tally, now: context.clock.now, wait: { try await Task.sleep(for: $0) },
            send: {
                _ = try await producer.send(ProducerRecord(Topics.heartbeats, $0), deadline: limits.acknowledgement)
            },
            logger: context.logger),
        Receiver(
            address: settings.address, limits: limits,
            budget: BodyBudget(limit: limits.bodies, onRelief: { flood.yield() }),
            shares: AddressShares(places: limits.inFlight, share: limits.addressShare),
            producer: NotificationProducer(
                producer: producer, limits: limits, unreachableBrokers: { producerService.unreachableBrokers },
                instant: context.clock.instant, logger: context.logger),
            tally: tally,
            tracing: RequestTracing(tracer: context.tracer), clock: context.clock, logger: context.logger,
            onListening: { PortFile.write($0, to: settings.portFile, logger: context.logger) }),
    ]
}
