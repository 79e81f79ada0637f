import Chassis
import Contracts
import Foundation
import Pipeline

await ServiceProcess(
    name: "verifier", summary: "Proves that what was posted is Apple's and ours; refuses the rest with its reason.",
    adminAddress: "127.0.0.1:9102", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let connection = try await WorkerConnection(context, stage: .verifier, reading: Topics.received.route)
    let trusted = try Reloading(context)
    let stage = Verify(verifier: { trusted.verifier }, now: context.clock.now, cores: context.settings.usableCores)
    return [trusted] + connection.parts(running: stage, settlement: KafkaSettlement(connection, to: Topics.verified))
}
