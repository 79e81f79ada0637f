import Foundation
import Logging
import Postgres
import Storage
import Synchronization
import TestSupport
import Testing

@testable import StateUpdater

@Suite struct AnnounceEndsTests {
    @Test func `AnnounceEnds tells of no end by a clock that is ahead of the database's`() async throws {
        try await TestDatabase.connected { connection in
            let ahead = Mutex(0.0)
            let now = { @Sendable () -> Date in Date().addingTimeInterval(ahead.withLock(\.self)) }
            let service = AnnounceEnds(
                ends: AccessEndStore(connection), clocks: ClockCheck(connection: connection, now: now),
                patience: .seconds(600), now: now, logger: Logger.quiet)
            // The first turn stores where to begin.
            #expect(try await !service.turn())
            try await connection.run(
                unsafeScript: """
                    insert into access_period (
                        period, environment, original_transaction_id, bundle_id, product_id, reason)
                    values (
                        tstzrange(now(), now() + interval '1 hour'), 'Production', '1', 'com.example.app', 'gold', 'paid')
                    """)
            ahead.withLock { $0 = 7200 }
            await #expect(throws: ClockIsAhead.self) { try await service.turn() }
            ahead.withLock { $0 = 0 }
            #expect(try await !service.turn())
        }
    }
}
