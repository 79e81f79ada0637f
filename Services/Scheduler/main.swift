import AppStore
import Bootstrap
import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import Storage

await ServiceProcess(
    name: "scheduler",
    summary: "Finds times that are not proven complete and fetches Apple's notification history of them.",
    adminAddress: "127.0.0.1:9105", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try await SchedulerServices(
        context, clock: APIClock(now: { Date() }, random: { .random(in: 0..<1) }), newId: { UUID() }
    ).services()
}
