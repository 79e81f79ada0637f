import Foundation
import Postgres
import TestSupport
import Testing

@Suite(.hangLimit) struct ClockCheckTests {
    private static func check(ahead seconds: TimeInterval) async throws {
        try await TestDatabase.connected { connection async throws in
            try await ClockCheck(connection: connection, now: { Date().addingTimeInterval(seconds) }).run()
        }
    }

    @Test(arguments: [0.0, 240, -3600]) func `ClockCheck passes a clock that is about right, or behind`(
        ahead: TimeInterval
    ) async throws {
        try await Self.check(ahead: ahead)
    }

    @Test func `ClockCheck refuses a clock that is ahead of Apple's as the database's is`() async throws {
        try await TestDatabase.use { database async throws in
            func check(_ difference: TimeInterval) -> ClockCheck {
                ClockCheck(
                    connection: TestDatabase.connection(database), now: { Date() }, apple: { _ in difference })
            }
            try await check(-240).run()
            try await check(3600).run()
            let fault = await #expect(throws: ClockIsAhead.self) { try await check(-86_400).run() }
            #expect(fault?.description.contains("86400 s ahead of Apple's") == true)
        }
    }

    @Test func `ClockCheck says by how much a clock is ahead, and what to do`() async throws {
        let fault = await #expect(throws: ClockIsAhead.self) { try await Self.check(ahead: 86_400) }
        #expect((fault?.seconds ?? 0) > 86_000)
        #expect(fault?.description.hasSuffix("let all machines follow a time service (NTP)") == true)
    }
}
