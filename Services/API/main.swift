import Chassis
import Foundation

await ServiceProcess(
    name: "api", summary: "Answers app backends: entitlements, customers (by your own ids), changes of purchases.",
    adminAddress: "127.0.0.1:9107", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try APIServices(context).all
}
