import Chassis
import Foundation

await ServiceProcess(
    name: "console", summary: "Shows support and operators the state of purchases and of the pipeline in a browser.",
    adminAddress: "127.0.0.1:9108", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try await ConsoleServices(context).all
}
