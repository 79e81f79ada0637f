import AppStore
import Chassis
import Contracts
import Foundation
import Pipeline

await ServiceProcess(
    name: "verifier",
    summary: "Verifies Apple's signatures, the app and the environment; rejects the rest with its reason.",
    adminAddress: "127.0.0.1:9102", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let settings = context.settings
    let revocations = RevocationRegister(isHard: settings.revocation == .hard)
    let trusted = try settings.trustWatcher(revocations: revocations, logger: context.logger)
    let producer = try ProducerService(try settings.kafka(), for: .verifier, of: Topics.plan, logger: context.logger)
    let connection = try await WorkerConnection(
        context, stage: .verifier, reading: Topics.received.route, of: Topics.plan, sharing: producer)
    let slowConnection = try await WorkerConnection(
        context, stage: .verifier, part: "deferred", reading: Topics.deferred.route, of: Topics.plan, limit: 50,
        sharing: producer)
    let unknownApps = UnknownApps(logger: context.logger, now: context.clock.now)
    func budget(_ perSecond: Int) -> ChainBudget {
        ChainBudget(perSecond: Double(perSecond), burst: perSecond, instant: context.clock.instant)
    }
    var services: [any Service] = [trusted]
    var stage = Verify(
        verifier: { trusted.verifier }, now: context.clock.now,
        budget: UnknownChains(
            proofs: budget(ChainBudget.perSecond), signatures: budget(UnknownChains.signaturesPerSecond)),
        repeats: RepeatedPayloads(budget: budget(RepeatedPayloads.perSecond)),
        version1: HourlyQuota(now: context.clock.now),
        cores: settings.usableCores,
        unknownApp: unknownApps.notice, revocations: { await connection.revocations })
    if settings.revocation != .off {
        let watch = RevocationWatch(
            register: revocations, chains: { trusted.verifier.provenChains }, client: ResponderClient(),
            pace: settings.revocationPace, clock: ContinuousClock(), now: context.clock.now,
            nonce: { (0..<16).map { _ in .random(in: .min ... .max) } }, logger: context.logger)
        services.append(watch)
        if settings.revocation == .hard { stage.settleRevocation = watch.look }
    }
    var patient = stage
    patient.budget = nil
    patient.repeats = nil
    patient.cores = 1
    let slowLane = VerifyDeferred(
        verify: patient, share: settings.deferredShare, clock: ContinuousClock(), instant: context.clock.instant)
    return services + [producer]
        + connection.services(
            running: stage,
            settlement: KafkaSettlement(
                connection, to: Topics.verified, deferringTo: Topics.deferred.route))
        + slowConnection.services(running: slowLane, settlement: KafkaSettlement(slowConnection, to: Topics.verified))
}
