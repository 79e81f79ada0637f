import Foundation
import ServiceLifecycle
import Synchronization
import Testing

@testable import Chassis

/// Records what happens to it, and ends as the test says.
private struct Part: Service {
    let name: String
    let diary: Diary
    var failure: TestFailure?

    func run() async throws {
        diary.note("\(name) started")
        if let failure { throw failure }
        try? await gracefulShutdown()
        diary.note("\(name) stopped, ready: \(diary.health.notReady.isEmpty)")
    }
}

private struct TestFailure: Error {}

private final class Diary: Sendable {
    let health = Health(instant: { .now })
    private let lines = Mutex<[String]>([])

    func note(_ line: String) { lines.withLock { $0.append(line) } }
    var all: [String] { lines.withLock { $0 } }
}

@Suite(.hangLimit) struct ServiceRunTests {
    private let diary = Diary()

    private func run(_ parts: [any Service], deadline: String = "25s", whenTooLate: @escaping @Sendable () -> Void)
        async throws
    {
        let settings = try Settings(
            CommonVariables(adminAddress: "127.0.0.1:0"), environment: ["STOREKEEPER_SHUTDOWN_DEADLINE": deadline])
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        try await ServiceRun(
            logger: logger, health: diary.health, settings: settings, registry: MetricRegistry(metrics: []),
            whenTooLate: whenTooLate
        ).run(parts)
    }

    @Test
    func `ServiceRun stops the other services in order when one fails, after readiness ended, and throws its error`()
        async
    {
        await #expect(throws: TestFailure.self) {
            try await run(
                [
                    Part(name: "first", diary: diary), Part(name: "second", diary: diary),
                    Part(name: "third", diary: diary, failure: TestFailure()),
                ], whenTooLate: {})
        }
        let stops = diary.all.filter { $0.contains("stopped") }
        #expect(stops == ["second stopped, ready: false", "first stopped, ready: false"])
    }

    @Test func `ServiceRun ends a service that does not stop at the deadline`() async throws {
        let (over, signal) = AsyncStream.makeStream(of: Void.self)
        struct Stubborn: Service {
            let over: AsyncStream<Void>
            func run() async throws {
                // Outlives every request to stop until the deadline is over.
                await Task { for await _ in over {} }.value
            }
        }
        await #expect(throws: TestFailure.self) {
            try await run(
                [Stubborn(over: over), Part(name: "failing", diary: diary, failure: TestFailure())],
                deadline: "100ms", whenTooLate: { signal.finish() })
        }
    }
}
