import Commands
import Contracts
import Foundation
import Operations
import Postgres
import Storage
import TestSupport
import Testing

@testable import Storekeeper

struct RecoverTests {
    /// As a scheduler that has a key for the app does at its first round.
    private static func know(
        _ app: String, _ environment: StoreEnvironment, in database: PostgresConfiguration
    ) async throws {
        let connection = TestDatabase.connection(database)
        try await connection.run(
            unsafeScript: """
                insert into coverage (environment, bundle_id, kind, begins_at, planned_until, complete_until)
                values ('\(environment.rawValue)', '\(app)', 'failures', now(), now(), now())
                """)
        await connection.close()
    }

    @Test func `recover names the service to look at when nothing moves`() {
        #expect(WindowFollower.standstill(isTaken: false, for: .seconds(9)) == nil)
        let unclaimed = WindowFollower.standstill(isTaken: false, for: .seconds(11))
        #expect(unclaimed?.hasPrefix("no scheduler has claimed the window") == true)
        let still = WindowFollower.standstill(isTaken: true, for: .seconds(11))
        #expect(still?.hasPrefix("no progress for 11 s") == true)
    }

    @Test func `Windows are opened once, followed until they close, and say what was found`() async throws {
        try await TestDatabase.use { database async throws in
            let store = RecoveryWindowStore(TestDatabase.connection(database))
            try await Self.know("app", .production, in: database)
            let arguments = ["recover", "--from", "3h", "--app", "app", "--environment", "Production"]
            let dry = await database.run(arguments + ["--dry-run"])
            #expect(dry.code == 0 && dry.text.contains("Production"))
            #expect(try await store.windows().isEmpty)

            let opened = await database.run(arguments + ["--no-wait"])
            #expect(opened.code == 0 && opened.text.contains("manual"))
            let window = try #require(try await store.windows().first)
            #expect(window.scope.to.timeIntervalSince(window.scope.from) == 3 * 3600)

            async let followed = database.run(arguments + ["--type", "DID_RENEW"])
            // The command opens its window before it looks at it.
            let claims = WindowClaimStore(TestDatabase.connection(database))
            var mine: WindowClaim?
            while mine == nil {
                mine = try await claims.claim(
                    for: UUID(), apps: [CoverageStore.App(.production, "app")], seconds: 60, limit: 10
                ).first { $0.scope.notificationType == "DID_RENEW" }
            }
            // Apple lists nothing in it.
            let page = FetchedPage(messages: 0, items: 0, reachedAt: nil, nextToken: nil)
            var claim = try #require(mine)
            #expect(try await claims.advance(&claim, by: page, seconds: 60, at: Date()))
            #expect(try await store.close([claim.id], at: Date()) == [claim.id])
            let outcome = await followed
            #expect(outcome.code == 0, "\(outcome.errorOutput)")
            #expect(outcome.text.contains("closed"))
        }
    }

    @Test func `recover fails where Apple no longer listed the beginning, and says from when it is compared`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let connection = TestDatabase.connection(database)
            try await Self.know("app", .production, in: database)
            async let followed = database.run(["recover", "--from", "3h", "--environment", "Production"])
            let claims = WindowClaimStore(connection)
            func next() async throws -> WindowClaim {
                while true {
                    let apps = [CoverageStore.App(.production, "app")]
                    if let claim = try await claims.claim(for: UUID(), apps: apps, seconds: 60).first { return claim }
                }
            }
            let first = try await next()
            let start = Date(milliseconds: first.start.addingTimeInterval(3600).milliseconds)
            try await claims.restart(first, from: start, isCut: true, because: "too long ago")
            var claim = try await next()
            let page = FetchedPage(messages: 0, items: 0, reachedAt: nil, nextToken: nil)
            #expect(try await claims.advance(&claim, by: page, seconds: 60, at: Date()))
            #expect(try await RecoveryWindowStore(connection).close([claim.id], at: Date()) == [claim.id])
            let outcome = await followed
            #expect(outcome.code == 1)
            #expect(outcome.text.contains("closed"))
            #expect(outcome.errorOutput.contains("app Production: compared from \(start.text) on"))
        }
    }

    @Test func `recover opens no window for an app that no scheduler fetches`()
        async throws
    {
        try await TestDatabase.use { database async throws in
            let arguments = ["recover", "--from", "3h", "--app", "apo", "--environment", "Production"]
            let early = await database.run(arguments)
            #expect(early.code == 1 && early.errorOutput.contains("no known apps"))
            try await Self.know("app", .production, in: database)
            let misspelt = await database.run(arguments)
            #expect(misspelt.code == 1 && misspelt.errorOutput.contains("only app Production"))
            let store = RecoveryWindowStore(TestDatabase.connection(database))
            #expect(try await store.windows().isEmpty)
        }
        #expect(await CommandOutcome.of(["recover", "--from", "3h", "--subtype", "x"]).code == 64)
    }
}
