import Foundation
import Postgres
import TestSupport
import Testing

@testable import Storage

@Suite struct ConsoleSessionsTests {
    @Test func `A session that begins by a link while all of its person's end is ended, too`() async throws {
        try await TestDatabase.use { database async throws in
            let sessions = ConsoleSessions(TestDatabase.connection(database))
            let audit = OperatorAction(
                actedAt: Fixtures.now, actor: "ann", operation: "console sessions end", subject: "bob", reason: nil)
            try await sessions.addLink(
                Array(repeating: 1, count: 32), for: ConsoleSessions.Person(name: "bob", role: "viewer"),
                from: Fixtures.now, until: Fixtures.now.addingTimeInterval(300), audit: audit)
            // As the statement of a sign-in, up to its commit.
            let browser = TestDatabase.connection(database)
            try await browser.run(
                unsafeScript: """
                    begin;
                    update console_login set used_at = created_at;
                    insert into console_session (digest, name, role, created_at, expires_at)
                    select digest, name, role, created_at, expires_at
                    from console_login
                    """)
            async let ending = sessions.endAll(of: "bob", at: Fixtures.now, audit: audit)
            _ = try await TestDatabase.blockedBackends(asking: TestDatabase.connection(database))
            try await browser.run(unsafeScript: "commit")
            let ended = try await ending
            #expect(ended == (1, 0))
            #expect(try await sessions.signedIn(at: Fixtures.now).isEmpty)
        }
    }
}
