import Logging
import ServiceLifecycle

/// Runs services as a process does, does what is asked, and stops them in an orderly way; throws what they threw, else what the
/// body threw.
package func whileRunning<Value>(
    _ services: [any Service], logger: Logger = .quiet, isolation: isolated (any Actor)? = #isolation,
    _ body: () async throws -> Value
) async throws -> Value {
    let group = ServiceGroup(configuration: .init(services: services.map { .init(service: $0) }, logger: logger))
    async let running: Void = group.run()
    let outcome: Result<Value, any Error>
    do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
    await group.triggerGracefulShutdown()
    try await running
    return try outcome.get()
}
