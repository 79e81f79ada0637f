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

@Suite(.timeLimit(.minutes(2))) struct RoundTests {
    private static let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    private static func round(
        _ database: PostgresConfiguration, turn: @escaping @Sendable () async throws -> Void
    ) -> Round {
        Round(
            "test", every: .milliseconds(1), leases: LeaseStore(TestDatabase.connection(database)), holder: UUID(),
            health: Health(instant: { .now }), logger: logger, turn: turn)
    }

    private static func group(_ round: Round) -> ServiceGroup {
        ServiceGroup(configuration: .init(services: [.init(service: round)], logger: logger))
    }

    @Test func `one that stops hands the job over at once`() async throws {
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
            // The lease would have lasted for ten minutes.
            while let name = await iterator.next(), name != "second" {}
            await second.triggerGracefulShutdown()
            try await secondRunning
        }
    }

    @Test func `a turn that failed is tried again`() async throws {
        try await TestDatabase.use { database async throws in
            struct Away: Error {}
            let (ends, end) = AsyncStream<Void>.makeStream()
            let attempts = Mutex(0)
            let group = Self.group(
                Self.round(database) {
                    let attempt = attempts.withLock { count in
                        count += 1
                        return count
                    }
                    guard attempt >= 3 else { throw Away() }
                    end.yield()
                })
            async let running: Void = group.run()
            _ = await ends.first { _ in true }
            await group.triggerGracefulShutdown()
            try await running
            #expect(attempts.withLock { $0 } >= 3)
        }
    }
}
