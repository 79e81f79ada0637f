import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// Idempotency keys of requests, with their answers.
///
/// The time of a claim tells it from the one before: a key is claimed again a minute later at the earliest. An execution that takes
/// longer changes nothing of the newer claim.
package struct IdempotencyStore: Sendable {
    /// The state of a request.
    package enum Known: Sendable, Equatable {
        /// No earlier request has the key: the caller executes it and calls ``complete(_:of:claimedAt:status:headers:body:naming:)``.
        case new
        /// The same request was sent before, with this answer.
        case answered(status: Int, headers: String, body: [UInt8])
        /// The same request is being executed.
        case inProgress
        /// The same request was interrupted after ``command(beginning:of:claimedAt:answer:)``: whether it had its effect is not known.
        case unsettled
        /// The key was used for another request.
        case mismatch
    }

    /// Whom a stored answer names; an erasure deletes the answer by it.
    package struct Named: Sendable, Equatable {
        package var environment: StoreEnvironment
        /// Nil where the request is about no app, or about several.
        package var bundleId: String?
        package var appAccountTokens: Set<UUID>
        /// The developer's own id.
        package var customerId: String?

        package init(
            environment: StoreEnvironment, bundleId: String?, appAccountTokens: Set<UUID>, customerId: String?
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountTokens = appAccountTokens
            self.customerId = customerId
        }
    }

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// Claims an idempotency key for a request.
    /// - Parameters:
    ///   - digest: a digest of operation, path and body.
    ///   - expiry: keys claimed before it have expired.
    ///   - abandoned: a request claimed before it and still in progress was interrupted. The same request may be executed again
    ///     unless it had begun what must not be done twice.
    package func claim(
        _ name: String, of key: UUID, digest: [UInt8], at now: Date, expiry: Date, abandoned: Date
    ) async throws -> Known {
        let rows = try await connection.pipeline([
            Command(Self.claim, key, name, digest, now, expiry, abandoned), Command(Self.find, key, name),
        ])
        if rows[0].affected > 0 { return .new }
        guard let row = rows[1].first else { return .inProgress }
        guard try row.value("request_digest", as: [UInt8].self) == digest else { return .mismatch }
        guard let status = try row.optional("status", as: Int32.self) else { return .inProgress }
        // An earlier build marked what has begun by the status 0 alone.
        let text = try row.optional("response_headers", as: JSONText.self)?.text
        guard status != 0, text != Self.begunHeaders else {
            return try row.value("created_at", as: Date.self) < abandoned ? .unsettled : .inProgress
        }
        let headers: JSONText = try row.value("response_headers")
        return .answered(status: Int(status), headers: headers.text, body: try row.value("response_body"))
    }

    /// Stores the answer.
    package func complete(
        _ name: String, of key: UUID, claimedAt moment: Date, status: Int, headers: String, body: [UInt8],
        naming named: Named
    ) async throws {
        _ = try await connection.pipeline([
            Self.command(
                completing: name, of: key, claimedAt: moment, status: status, headers: headers, body: body,
                naming: named)
        ])
    }

    /// Stores the answer, in the transaction that has the effect: a repeat gets it also where the database fails between both.
    package static func command(
        completing name: String, of key: UUID, claimedAt moment: Date, status: Int, headers: String, body: [UInt8],
        naming named: Named
    ) -> Command {
        Command(
            complete, key, name, Int32(status), JSONText(headers), body, named.environment.rawValue, named.bundleId,
            named.appAccountTokens.sorted { $0.uuidString < $1.uuidString }, named.customerId, moment)
    }

    /// The request is about to have an effect outside of the database that must not happen twice: from now on its key is not
    /// withdrawn, and not free again before it expires. Affects no row where another execution of the request is ahead.
    /// - Parameter answer: the problem, with status 409, that a build answers a repeat with that does not know what has begun.
    package static func command(
        beginning name: String, of key: UUID, claimedAt moment: Date, answer: [UInt8]
    ) -> Command {
        Command(begin, key, name, JSONText(begunHeaders), answer, moment)
    }

    /// The effect has certainly not happened: the request may be executed again.
    package static func command(undoing name: String, of key: UUID, claimedAt moment: Date) -> Command {
        Command(undo, key, name, begunHeaders, moment)
    }

    /// Deletes a claim whose request had no effect, so that it can be sent again; one that has begun its effect stays.
    package func withdraw(_ name: String, of key: UUID, claimedAt moment: Date) async throws {
        _ = try await connection.execute(Self.withdraw, key, name, moment)
    }

    /// Deletes keys claimed before a time.
    /// - Returns: number of rows.
    package func delete(before moment: Date) async throws -> Int {
        try await deletingInPortions { try await connection.execute(Self.delete, moment, $0).affected }
    }

    /// The headers of a row without an answer: its request has begun, and may have had its effect.
    private static let begunHeaders = #"{"Content-Type":"application/problem+json","Storekeeper-Outcome":"unknown"}"#

    static let statements = [claim, find, begin, undo, complete, withdraw, delete]

    private static let claim = Statement(
        "api-idempotency-claim",
        """
        insert into api_idempotency as held (key_id, idempotency_key, request_digest, created_at)
        values ($1::uuid, $2::text, $3::bytea, $4::timestamptz)
        on conflict (key_id, idempotency_key) do update
        set request_digest = excluded.request_digest, created_at = excluded.created_at, status = null,
            response_headers = null, response_body = null, environment = null, bundle_id = null, customer_id = null,
            app_account_tokens = '{}'
        where held.created_at < $5::timestamptz
            or (held.status is null and held.created_at < $6::timestamptz
                and held.request_digest = excluded.request_digest)
        """)

    private static let find = Statement(
        "api-idempotency-find",
        """
        select request_digest, status, created_at, response_headers, response_body
        from api_idempotency
        where key_id = $1::uuid and idempotency_key = $2::text
        """)

    private static let begin = Statement(
        "api-idempotency-begin",
        """
        update api_idempotency
        set status = 409, response_headers = $3::json, response_body = $4::bytea
        where key_id = $1::uuid and idempotency_key = $2::text and created_at = $5::timestamptz and status is null
        """)

    private static let undo = Statement(
        "api-idempotency-undo",
        """
        update api_idempotency
        set status = null, response_headers = null, response_body = null
        where key_id = $1::uuid and idempotency_key = $2::text and created_at = $4::timestamptz
            and (status = 0 or response_headers::text = $3::text)
        """)

    private static let complete = Statement(
        "api-idempotency-complete",
        """
        update api_idempotency
        set status = $3::integer, response_headers = $4::json, response_body = $5::bytea,
            environment = $6::text::store_environment, bundle_id = $7::text, app_account_tokens = $8::uuid[],
            customer_id = $9::text
        where key_id = $1::uuid and idempotency_key = $2::text and created_at = $10::timestamptz
        """)

    private static let withdraw = Statement(
        "api-idempotency-withdraw",
        """
        delete from api_idempotency
        where key_id = $1::uuid and idempotency_key = $2::text and created_at = $3::timestamptz and status is null
        """)

    private static let delete = Statement(
        "api-idempotency-delete",
        """
        delete from api_idempotency
        where ctid = any (array(
                select ctid
                from api_idempotency
                where created_at < $1::timestamptz
                order by created_at
                limit $2::bigint))
            and created_at < $1::timestamptz
        """)
}
