import Contracts
import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The API keys.
package struct ClientKeyStore: Sendable {
    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

    package func add(_ key: ClientKey) async throws {
        _ = try await connection.execute(
            Self.insert, key.id, key.name, key.environment.rawValue, key.scopes.map(\.rawValue).sorted(),
            key.bundleIds, key.digest, key.createdAt, key.expiresAt)
    }

    /// All keys, including revoked and expired ones, the newest first; without their digests, which operators may not read.
    package func all() async throws -> [ClientKey] {
        try await connection.execute(Self.list).map { row in try Self.read(row, digest: []) }
    }

    /// The keys that are not revoked, and the secret that signs cursors.
    package func active() async throws -> (keys: [ClientKey], cursorSecret: [UInt8]) {
        let rows = try await connection.pipeline([Command(Self.active), Command(Self.cursorSecret)])
        return (
            try rows[0].map { row in try Self.read(row, digest: row.value("digest")) }, try rows[1][0].value("secret")
        )
    }

    /// Revokes a key.
    /// - Returns: false where no such key exists, or it is revoked already.
    package func revoke(_ id: UUID, at moment: Date) async throws -> Bool {
        try await connection.execute(Self.revoke, id, moment).affected > 0
    }

    /// Stores when keys were used; an earlier time changes nothing.
    package func used(_ uses: [UUID: Date]) async throws {
        guard !uses.isEmpty else { return }
        let sorted = uses.sorted { $0.key.uuidString < $1.key.uuidString }
        _ = try await connection.execute(Self.use, sorted.map(\.key), sorted.map(\.value))
    }

    private static func read(_ row: Row, digest: [UInt8]) throws -> ClientKey {
        var key = ClientKey(
            id: try row.value("id"), name: try row.value("name"), environment: try SubscriptionStore.environment(row),
            // A scope that only a newer release knows is ignored.
            scopes: Set(try row.value("scopes", as: [String].self).compactMap(APIScope.init(rawValue:))),
            bundleIds: try row.value("bundle_ids"), digest: digest,
            createdAt: try row.value("created_at"), expiresAt: try row.optional("expires_at"))
        key.revokedAt = try row.optional("revoked_at")
        key.lastUsedAt = try row.optional("last_used_at")
        return key
    }

    static let statements = [insert, list, active, revoke, use, cursorSecret]

    private static let insert = Statement(
        "api-key-insert",
        """
        insert into api_key (id, name, environment, scopes, bundle_ids, digest, created_at, expires_at)
        values (
            $1::uuid, $2::text, $3::text::store_environment, $4::text[], $5::text[], $6::bytea, $7::timestamptz,
            $8::timestamptz)
        """)

    private static let list = Statement(
        "api-key-list",
        """
        select id, name, environment::text as environment, scopes, bundle_ids, created_at, expires_at, revoked_at, last_used_at
        from api_key
        left join api_key_use on key_id = id
        order by created_at desc, id
        """)

    private static let active = Statement(
        "api-key-active",
        """
        select id, name, environment::text as environment, scopes, bundle_ids, digest, created_at, expires_at, revoked_at,
            last_used_at
        from api_key
        left join api_key_use on key_id = id
        where revoked_at is null
        order by created_at desc, id
        """)

    private static let cursorSecret = Statement("api-cursor-secret", "select secret from api_cursor_secret")

    private static let revoke = Statement(
        "api-key-revoke",
        "update api_key set revoked_at = $2::timestamptz where id = $1::uuid and revoked_at is null")

    private static let use = Statement(
        "api-key-use",
        """
        insert into api_key_use as held (key_id, last_used_at)
        select key_id, last_used_at
        from unnest($1::uuid[], $2::timestamptz[]) as given (key_id, last_used_at)
        where exists (select from api_key where id = given.key_id)
        order by key_id
        on conflict (key_id) do update
        set last_used_at = excluded.last_used_at
        where held.last_used_at < excluded.last_used_at
        """)
}
