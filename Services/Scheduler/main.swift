import Bootstrap
import Chassis
import Contracts
import Foundation
import Kafka
import Pipeline
import Postgres
import ServerAPI
import Storage

await ServiceProcess(
    name: "scheduler",
    summary: "Compares every day with Apple's notification history and has missing notifications recovered.",
    adminAddress: "127.0.0.1:9105", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try await SchedulerServices(
        context, clock: APIClock(now: context.clock.now, random: { .random(in: 0..<1) }), newId: { UUID() }
    ).services()
}
