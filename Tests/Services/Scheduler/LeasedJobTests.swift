import CoreMetrics
import Foundation
import Logging
import Postgres
import ServiceLifecycle
import Storage
import Synchronization
import TestSupport
import Testing

@testable import Chassis
@testable import Scheduler

@Suite(.hangLimit) struct LeasedJobTests {
    private static let logger = Logger.quiet

    private static func round(
        _ database: PostgresConfiguration, every interval: Duration = .milliseconds(1), clocks: ClockCheck? = nil,
        result: LeasedJob.Result = .complete, turn: @escaping @Sendable () async throws -> Void
    ) -> LeasedJob {
        LeasedJob(
            "test", every: interval, leases: LeaseStore(TestDatabase.connection(database)), clocks: clocks,
            holder: UUID(), health: Health(instant: { .now }), logger: logger
        ) {
            try await turn()
            return result
        }
    }

    /// Until when the lease is held, and how long that is from now, by the clock of the database.
    private static func lease(_ connection: PostgresConnection) async throws -> (until: Date, seconds: Double)? {
        try await connection.execute(
            Statement(
                "test-lease",
                """
                select held_until, extract(epoch from held_until - statement_timestamp())::double precision as seconds
                from lease
                """)
        ).first.map { row in (try row.value("held_until"), try row.value("seconds")) }
    }

    private static func group(_ round: LeasedJob) -> ServiceGroup {
        ServiceGroup(configuration: .init(services: [.init(service: round)], logger: logger))
    }

    @Test func `LeasedJob that stops hands over at once`() async throws {
        try await TestDatabase.use { database async throws in
            let (turns, turned) = AsyncStream<String>.makeStream()
            let first = Self.group(Self.round(database) { turned.yield("first") })
            let second = Self.group(Self.round(database) { turned.yield("second") })
            var iterator = turns.makeAsyncIterator()
            async let firstRunning: Void = first.run()
            #expect(await iterator.next() == "first")
            async let secondRunning: Void = second.run()
            await first.triggerGracefulShutdown()
            try await firstRunning
            // The lease would have lasted for a minute.
            while let name = await iterator.next(), name != "second" {}
            await second.triggerGracefulShutdown()
            try await secondRunning
        }
    }

    @Test func `LeasedJob that is killed in a turn is replaced within a minute`() async throws {
        try await TestDatabase.use { database async throws in
            let observer = TestDatabase.connection(database)
            let (turns, turned) = AsyncStream<Double?>.makeStream()
            let round = Self.round(database, every: .seconds(3600)) {
                turned.yield(try await Self.lease(observer)?.seconds)
            }
            let seconds = try await whileRunning([round]) { await turns.first { _ in true } }
            #expect(try #require(seconds ?? nil) <= 60)
        }
    }

    @Test func `Lease of a turn that takes long is renewed, and the job stays where it is`() async throws {
        try await TestDatabase.use { database async throws in
            let observer = TestDatabase.connection(database)
            let (turns, turned) = AsyncStream<Bool>.makeStream()
            let hasLooked = Mutex(false)
            var round = Self.round(database, every: .seconds(3600)) {
                let first = try await Self.lease(observer)?.until
                hasLooked.withLock { $0 = true }
                let deadline = ContinuousClock.now.advanced(by: .hangLimit)
                while try await Self.lease(observer)?.until == first, ContinuousClock.now < deadline {}
                turned.yield(try await Self.lease(observer)?.until != first)
            }
            round.clock = SkippingClock { _ in
                repeat {
                    try Task.checkCancellation()
                    await Task.yield()
                } while !hasLooked.withLock { $0 }
            }
            #expect(try await whileRunning([round]) { await turns.first { _ in true } } == true)
        }
    }

    @Test func `LeasedJob whose turn fails hands over at once`() async throws {
        try await TestDatabase.use { database async throws in
            struct Away: Error {}
            let (turns, turned) = AsyncStream<Void>.makeStream()
            let (failures, failed) = AsyncStream<Void>.makeStream()
            let first = Self.group(
                Self.round(database) {
                    failed.yield()
                    throw Away()
                })
            let second = Self.group(Self.round(database) { turned.yield() })
            async let firstRunning: Void = first.run()
            _ = await failures.first { _ in true }
            async let secondRunning: Void = second.run()
            _ = await turns.first { _ in true }
            for group in [first, second] { await group.triggerGracefulShutdown() }
            try await firstRunning
            try await secondRunning
        }
    }

    @Test func `LeasedJob retries a turn that failed`() async throws {
        try await TestDatabase.use { database async throws in
            struct Away: Error {}
            let (ends, end) = AsyncStream<Void>.makeStream()
            let attempts = Mutex(0)
            let round = Self.round(database) {
                let attempt = attempts.withLock { count in
                    count += 1
                    return count
                }
                guard attempt >= 3 else { throw Away() }
                end.yield()
            }
            _ = try await whileRunning([round]) { await ends.first { _ in true } }
            #expect(attempts.withLock { $0 } >= 3)
        }
    }

    @Test func `LeasedJob whose turn leaves work does not wait before the next`() async throws {
        try await TestDatabase.use { database async throws in
            let (turns, turned) = AsyncStream<Void>.makeStream()
            let group = Self.group(
                Self.round(database, every: .seconds(3600), result: .partial) { turned.yield() })
            async let running: Void = group.run()
            for await _ in turns.prefix(3) {}
            await group.triggerGracefulShutdown()
            try await running
        }
    }

    @Test func `LeasedJob that deletes waits for Apple's clock, which is no failure`() async throws {
        try await TestDatabase.use { database async throws in
            let (turns, turned) = AsyncStream<Void>.makeStream()
            let checks = Mutex(0)
            let clocks = ClockCheck(
                connection: TestDatabase.connection(database), now: { Date() },
                isAppleAwaited: {
                    checks.withLock { count in
                        count += 1
                        return count <= 2
                    }
                })
            let registry = MetricRegistry(metrics: Metric.all)
            try await withMetricsFactory(registry) {
                let round = Self.round(database, clocks: clocks) { turned.yield() }
                _ = try await whileRunning([round]) { await turns.first { _ in true } }
            }
            #expect(checks.withLock { $0 } >= 3)
            #expect(!registry.exposition().contains(Metric.schedulerRetries.name))
        }
    }

    @Test func `LeasedJob begins no turn while its machine's clock is ahead of the database's`() async throws {
        try await TestDatabase.use { database async throws in
            let (turns, turned) = AsyncStream<Int>.makeStream()
            let readings = Mutex(0)
            // An hour ahead until it was read six times, which is more than one comparison.
            let clocks = ClockCheck(connection: TestDatabase.connection(database)) {
                let reading = readings.withLock { count in
                    count += 1
                    return count
                }
                return Date().addingTimeInterval(reading <= 6 ? 3600 : 0)
            }
            let round = Self.round(database, clocks: clocks) { turned.yield(readings.withLock { $0 }) }
            let first = try await whileRunning([round]) { await turns.first { _ in true } }
            #expect(try #require(first) > 6)
        }
    }
}
