import AppStore
import AppleAccess
import Chassis
import Contracts
import Database
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "scheduler", summary: "Finds out what may be missing, and fetches Apple's history of that time.",
    adminAddress: "127.0.0.1:9105", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try await Assembly(
        context, clock: APIClock(now: { Date() }, random: { .random(in: 0..<1) }), newId: { UUID() }
    ).parts()
}
