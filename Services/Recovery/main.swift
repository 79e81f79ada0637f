import Bootstrap
import Chassis
import Contracts
import Foundation
import Pipeline
import Postgres
import ServerAPI
import Storage

await ServiceProcess(
    name: "recovery",
    summary:
        "Compares Apple's history with the ledger, the table of all notifications, and sends missing ones through the pipeline.",
    adminAddress: "127.0.0.1:9106", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let api = try context.settings.appleAPI(
        clock: APIClock(now: context.clock.now, random: { .random(in: 0..<1) }), logger: context.logger)
    return try await RecoveryServices(context, newId: { UUID() }).all(api: api)
}
