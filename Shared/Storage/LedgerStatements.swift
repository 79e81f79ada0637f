import Postgres

import struct Foundation.Date
import struct Foundation.UUID

/// The statements of the one transaction that concern the ledger itself.
enum LedgerStatements {
    static let recorded = Statement(
        "ledger-recorded",
        "select notification_uuid from notification where notification_uuid = any ($1::uuid[])")

    /// Almost always there already; then nothing is written.
    static let keepChains = Statement(
        "ledger-keep-chains",
        """
        insert into certificate_chain (digest, header)
        select sha256(header), header
        from unnest($1::bytea[]) as given (header)
        where not exists (select from certificate_chain where digest = sha256(given.header))
        order by 1
        on conflict do nothing
        """)

    static let insert = Statement(
        "ledger-insert",
        """
        insert into notification (
            signed_at, received_at, recorded_at, app_apple_id, log_offset, notification_uuid, environment,
            log_partition, has_advanced, source, notification_type, subtype, bundle_id, original_transaction_id,
            transaction_id)
        select signed_at, received_at, $1::timestamptz, app_apple_id, log_offset, notification_uuid,
            environment::store_environment, log_partition, has_advanced, source, notification_type, subtype,
            bundle_id, original_transaction_id, transaction_id
        from unnest(
            $2::timestamptz[], $3::timestamptz[], $4::bigint[], $5::bigint[], $6::uuid[], $7::text[], $8::integer[],
            $9::boolean[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[]
        ) as given (
            signed_at, received_at, app_apple_id, log_offset, notification_uuid, environment, log_partition,
            has_advanced, source, notification_type, subtype, bundle_id, original_transaction_id, transaction_id)
        order by notification_uuid
        on conflict (notification_uuid) do nothing
        """)

    /// Does not ask which of them `insert` took: where another writer was faster, the transaction is undone, so nothing
    /// more than an error must be avoided here.
    /// `places` are those of a payload's headers among all of the batch, each a text, because arrays in an array would have
    /// to be of one length. Each header is digested once.
    static let insertPayloads = Statement(
        "ledger-insert-payloads",
        """
        with chain as materialized (
            select array_agg(sha256(header) order by place) as digests
            from unnest($6::bytea[]) with ordinality as given (header, place)
        )
        insert into notification_payload (recorded_at, notification_uuid, decoded, signed_original, chains)
        select $1::timestamptz, notification_uuid, decoded, signed_original,
            array(
                select chain.digests[place]
                from unnest(places::integer[]) with ordinality as referred (place, nth)
                order by nth)
        from unnest($2::uuid[], $3::json[], $4::bytea[], $5::text[])
            as given (notification_uuid, decoded, signed_original, places)
        cross join chain
        on conflict do nothing
        """)

    /// Keeps what repeats say that say something else than what is kept, each content once, and counts the contents. Told
    /// by the words and by the signed bytes together: a later build may decode the same bytes otherwise, and Apple may
    /// sign the same words again; neither is another content.
    static let keepConflicts = Statement(
        "ledger-keep-conflicts",
        """
        with kept as (
            insert into conflicting_notification (recorded_at, notification_uuid, digest, decoded, signed_original)
            select $1::timestamptz, notification_uuid, sha256(convert_to(given.decoded, 'UTF8')), given.decoded::json,
                given.signed_original
            from unnest($2::uuid[], $3::text[], $4::bytea[], $5::bytea[])
                as given (notification_uuid, decoded, signed_original, packed)
            join notification using (notification_uuid)
            join notification_payload payload using (notification_uuid, recorded_at)
            where payload.decoded::text <> given.decoded and payload.signed_original <> given.packed
            order by 2, 3
            on conflict do nothing
            returning notification_uuid
        )
        update notification
        set content_conflicts = content_conflicts + told.contents
        from (
            select notification_uuid, count(*)::integer as contents
            from kept
            group by notification_uuid
            order by notification_uuid
        ) as told
        where notification.notification_uuid = told.notification_uuid
        """)

    static func command(keepingConflictsOf repeated: [LedgerEntry], recordedAt: Date) -> Command {
        Command(
            keepConflicts, recordedAt, repeated.map(\.notificationUUID), repeated.map(\.decodedPayload),
            repeated.map(\.signedPayload), repeated.map { SignedOriginal(encoding: $0.signedPayload).blob })
    }

    static let transactionId = Statement("ledger-transaction-id", "select pg_current_xact_id()::text as id")

    /// Null where the transaction is so old, or of another server, that nobody knows.
    static let transactionStatus = Statement(
        "ledger-transaction-status", "select pg_xact_status($1::text::xid8) as status")

    static func command(inserting inserted: [(entry: LedgerEntry, hasAdvanced: Bool)], recordedAt: Date) -> Command {
        let entries = inserted.map(\.entry)
        return Command(
            insert,
            all: [
                recordedAt,
                entries.map(\.signedDate),
                entries.map(\.receivedAt),
                entries.map(\.appAppleId),
                entries.map(\.position.offset),
                entries.map(\.notificationUUID),
                entries.map(\.environment.rawValue),
                entries.map(\.position.partition),
                inserted.map(\.hasAdvanced),
                entries.map(\.source.rawValue),
                entries.map(\.notificationType),
                entries.map(\.subtype),
                entries.map(\.bundleId),
                entries.map(\.originalTransactionId),
                entries.map(\.transactionId),
            ] as [any PostgresParameter])
    }

    /// The headers first, which the payloads refer to.
    static func commands(insertingPayloadsOf entries: [LedgerEntry], recordedAt: Date) -> [Command] {
        let originals = entries.map { SignedOriginal(encoding: $0.signedPayload) }
        let headers = SignedOriginal.distinctHeaders(of: originals)
        let places = originals.map { original in
            let places = original.headers.compactMap { headers.place(of: $0[...]) }
            return "{" + places.map { "\($0 + 1)" }.joined(separator: ",") + "}"
        }
        return [
            Command(keepChains, headers),
            Command(
                insertPayloads, recordedAt, entries.map(\.notificationUUID),
                entries.map { JSONText($0.decodedPayload) }, originals.map(\.blob), places, headers),
        ]
    }
}
