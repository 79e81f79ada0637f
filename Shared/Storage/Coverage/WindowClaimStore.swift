import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Windows as those see them who fetch them: claimed for a while, advanced page by page, handed back.
///
/// A claim is a lease by the clock of the database. Everything that is stored names the holder, so a process that woke up
/// after its lease stores nothing any more.
public struct WindowClaimStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims what waits, or whose holder is gone, the most urgent first.
    /// - Parameters:
    ///   - apps: whose history may be asked for.
    ///   - seconds: how long a page may take.
    public func claim(
        for holder: UUID, apps: [CoverageStore.App], seconds: Int64, limit: Int = 1
    ) async throws -> [WindowClaim] {
        try await repeating {
            try await connection.execute(
                Self.claim, holder, seconds, apps.map(\.environment.rawValue), apps.map(\.bundleId), Int64(limit))
        }.map { row in
            WindowClaim(
                id: try row.value("id"), holder: holder, scope: try RecoveryWindowStore.scope(row),
                reason: try RecoveryWindowStore.reason(row), priority: Int(try row.value("priority", as: Int32.self)),
                partOf: try row.optional("part_of"), start: try row.value("start_at"),
                pageToken: try row.optional("page_token"), page: try row.value("next_page"),
                reachedAt: try row.optional("reached_at"), setbacks: Int(try row.value("setbacks", as: Int32.self)),
                restarts: Int(try row.value("restarts", as: Int32.self)))
        }
    }

    /// A page is on the log: the next one comes next, or the window is fetched.
    /// - Parameter claim: is moved to the next page.
    /// - Returns: false where the claim is another's by now.
    public func advance(
        _ claim: inout WindowClaim, by page: FetchedPage, seconds: Int64, at time: Date
    ) async throws -> Bool {
        let before = claim
        let stored = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.advance, before.id, before.holder, before.page, page.nextToken, Int64(page.items),
                    page.reachedAt, seconds, time),
                Command(Self.list, before.id, before.holder, before.page, Int64(page.parts)),
            ])
        }[0].affected
        guard stored == 1 else { return false }
        claim.page += 1
        claim.pageToken = page.nextToken
        claim.reachedAt = page.reachedAt ?? claim.reachedAt
        claim.setbacks = 0
        return true
    }

    /// Divides a window that is too long to be fetched in one go.
    /// - Returns: false where the claim is another's by now.
    public func divide(_ claim: WindowClaim, into parts: [RecoveryWindow.Request], at time: Date) async throws -> Bool {
        try await repeating {
            try await connection.transaction { transaction in
                let divided = try transaction.execute(
                    Self.divide, claim.id, claim.holder, Int32(clamping: parts.count))
                guard divided.affected == 1 else { return false }
                _ = try transaction.pipeline([RecoveryWindowStore.opening(parts, at: time, partOf: claim.id)])
                return true
            }
        }
    }

    /// Begins anew from another time, without a token.
    /// - Parameter seconds: nobody claims it before.
    public func restart(
        _ claim: WindowClaim, from start: Date, notBefore seconds: Int64 = 0, because reason: String
    ) async throws {
        _ = try await repeating {
            try await connection.execute(Self.restart, claim.id, claim.holder, start, reason, seconds)
        }
    }

    /// Hands the claim back; the next one goes on from the last page.
    /// - Parameters:
    ///   - seconds: nobody claims it before.
    ///   - reason: nil where nothing stood in the way.
    public func release(_ claim: WindowClaim, notBefore seconds: Int64 = 0, because reason: String? = nil) async throws
    {
        _ = try await repeating {
            try await connection.execute(Self.release, claim.id, claim.holder, seconds, reason)
        }
    }

    /// Gives the window up. A window of failures is planned again.
    public func fail(_ claim: WindowClaim, because reason: String, at time: Date) async throws {
        _ = try await repeating {
            try await connection.pipeline(
                [Command(Self.fail, claim.id, claim.holder, reason, time)] + CoverageStore.settling(at: time))
        }
    }
}
