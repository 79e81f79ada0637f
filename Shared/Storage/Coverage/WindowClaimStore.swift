import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Fetching of windows: a scheduler claims a window for a time, advances it page by page, and releases it.
///
/// A claim is a lease by the clock of the database. Every write names the holder, so a process that continues after its lease
/// has ended writes nothing.
public struct WindowClaimStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims waiting windows, or those whose lease has ended, the most urgent first.
    /// - Parameters:
    ///   - apps: the apps with an API key.
    ///   - seconds: the length of the lease, which one page must not exceed.
    ///   - reason: nil for windows of any.
    public func claim(
        for holder: UUID, apps: [CoverageStore.App], seconds: Int64, limit: Int = 1,
        reason: RecoveryWindow.Reason? = nil
    ) async throws -> [WindowClaim] {
        try await repeating {
            try await connection.execute(
                Self.claim, holder, seconds, apps.map(\.environment.rawValue), apps.map(\.bundleId), Int64(limit),
                reason?.rawValue)
        }.map { row in
            WindowClaim(
                id: try row.value("id"), holder: holder, scope: try RecoveryWindowStore.scope(row),
                reason: try RecoveryWindowStore.reason(row), priority: Int(try row.value("priority", as: Int32.self)),
                partOf: try row.optional("part_of"), start: try row.value("start_at"),
                pageToken: try row.optional("page_token"), page: try row.value("next_page"),
                reachedAt: try row.optional("reached_at"), failures: Int(try row.value("failures", as: Int32.self)),
                restarts: Int(try row.value("restarts", as: Int32.self)))
        }
    }

    /// Advances a window after a page was published: to the next page, or to the state fetched.
    /// - Parameter claim: is moved to the next page.
    /// - Returns: false where another process holds the claim now.
    public func advance(
        _ claim: inout WindowClaim, by page: FetchedPage, seconds: Int64, at time: Date
    ) async throws -> Bool {
        let before = claim
        let stored = try await repeating {
            try await connection.pipeline([
                Command(
                    Self.advance, before.id, before.holder, before.page, page.nextToken, Int64(page.items),
                    page.reachedAt, seconds, time),
                Command(Self.list, before.id, before.holder, before.page, Int64(page.messages)),
            ])
        }[0].affected
        guard stored == 1 else { return false }
        claim.page += 1
        claim.pageToken = page.nextToken
        claim.reachedAt = page.reachedAt ?? claim.reachedAt
        claim.failures = 0
        return true
    }

    /// Divides a window that is too long for one request sequence.
    /// - Returns: false where another process holds the claim now.
    public func divide(_ claim: WindowClaim, into subwindows: [RecoveryWindow.Request], at time: Date) async throws
        -> Bool
    {
        try await repeating {
            try await connection.transaction { transaction in
                let divided = try transaction.execute(
                    Self.divide, claim.id, claim.holder, Int32(clamping: subwindows.count))
                guard divided.affected == 1 else { return false }
                _ = try transaction.pipeline([RecoveryWindowStore.opening(subwindows, at: time, partOf: claim.id)])
                return true
            }
        }
    }

    /// Restarts a window from another time, without a token.
    /// - Parameters:
    ///   - seconds: the pause before the next claim.
    ///   - isCut: whether what is before that time stays unfetched: kept as ``RecoveryWindow/comparedFrom``.
    public func restart(
        _ claim: WindowClaim, from start: Date, notBefore seconds: Int64 = 0, isCut: Bool = false,
        because reason: String
    ) async throws {
        _ = try await repeating {
            try await connection.execute(Self.restart, claim.id, claim.holder, start, reason, seconds, isCut)
        }
    }

    /// Releases the claim; the next claim continues after the last page.
    /// - Parameters:
    ///   - seconds: the pause before the next claim.
    ///   - reason: the failure; nil where there was none.
    public func release(_ claim: WindowClaim, notBefore seconds: Int64 = 0, because reason: String? = nil) async throws
    {
        _ = try await repeating {
            try await connection.execute(Self.release, claim.id, claim.holder, seconds, reason)
        }
    }

    /// Gives up the window. A window of the kind failures is planned again.
    public func fail(_ claim: WindowClaim, because reason: String, at time: Date) async throws {
        _ = try await repeating {
            try await connection.pipeline(
                [Command(Self.fail, claim.id, claim.holder, reason, time)] + CoverageStore.settling(at: time))
        }
    }
}
