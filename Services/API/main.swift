import Chassis
import Foundation

await ServiceProcess(
    name: "api", summary: "Answers app backends: entitlements, subscriptions, customers, events.",
    adminAddress: "127.0.0.1:9107", variables: Configuration()
).run(
    clock: ProcessClock(now: { Date() }, instant: { .now }), instance: UUID().uuidString.lowercased()
) { context in
    try APIServices(context).all
}
