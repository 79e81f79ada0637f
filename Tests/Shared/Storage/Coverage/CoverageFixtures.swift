import Contracts
import Foundation
import Postgres
import Storage
import TestSupport

/// A database with the stores of coverage.
struct CoverageFixtures {
    static let app = CoverageStore.App(.production, "com.example.app")
    static let day: TimeInterval = 86_400
    /// The first moment of a day, UTC.
    static let start = Date(timeIntervalSince1970: 1_760_054_400)

    let configuration: PostgresConfiguration
    let connection: PostgresConnection
    var coverage: CoverageStore { CoverageStore(connection) }
    var windows: RecoveryWindowStore { RecoveryWindowStore(connection) }
    var claims: WindowClaimStore { WindowClaimStore(connection) }

    static func use(_ body: (CoverageFixtures) async throws -> Void) async throws {
        try await TestDatabase.use { configuration async throws in
            try await body(
                CoverageFixtures(
                    configuration: configuration, connection: TestDatabase.connection(configuration)))
        }
    }

    static func at(_ seconds: TimeInterval) -> Date { start.addingTimeInterval(seconds) }

    static func request(
        _ from: TimeInterval = 0, _ to: TimeInterval = 3600, reason: RecoveryWindow.Reason = .manual,
        type: String? = nil, id: UUID = UUID(), app: CoverageStore.App = app
    ) -> RecoveryWindow.Request {
        RecoveryWindow.Request(
            id: id,
            scope: RecoveryWindow.Scope(
                environment: app.environment, bundleId: app.bundleId, from: at(from), to: at(to),
                notificationType: type, onlyFailures: reason == .failures),
            reason: reason)
    }

    func claim(
        for holder: UUID = UUID(), seconds: Int64 = 60, limit: Int = 1
    ) async throws -> [WindowClaim] {
        try await claims.claim(for: holder, apps: [Self.app], seconds: seconds, limit: limit)
    }

    /// Fetches a claimed window: pages of one message each.
    func fetch(_ claim: WindowClaim, pages: Int = 1) async throws {
        var claim = claim
        for page in 1...pages {
            let next = page == pages ? nil : "token \(page)"
            let fetched = FetchedPage(messages: 1, items: 20, reachedAt: claim.scope.from, nextToken: next)
            guard try await claims.advance(&claim, by: fetched, seconds: 60, at: Self.at(0)) else { throw Fenced() }
        }
    }

    struct Fenced: Error {}

    /// Marks a message as compared, as recovery's transaction does.
    func see(_ page: Int64, of window: UUID, _ counts: RecoveryWindow.Counts = .init()) async throws {
        _ = try await connection.pipeline([
            RecoveryWindowStore.seeing(page: page, part: 0, of: window),
            RecoveryWindowStore.counting([window: counts]),
        ])
    }

    /// Ends every lease, as the passing of time would.
    func endLeases() async throws {
        try await connection.run(
            unsafeScript: "update recovery_window set held_until = now() - interval '1 second' where holder is not null"
        )
    }
}
