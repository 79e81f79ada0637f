import AppStore
import AppleAccess
import Chassis
import Contracts
import Database
import Foundation
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "recovery",
    summary: "Puts back on the line what Apple lists and the ledger lacks, and says when nothing is missing any more.",
    adminAddress: "127.0.0.1:9106", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    let api = try context.settings.appleAPI(
        clock: APIClock(now: context.clock.now, random: { .random(in: 0..<1) }), logger: context.logger)
    return try await Parts(context, newId: { UUID() }).all(asking: api)
}
