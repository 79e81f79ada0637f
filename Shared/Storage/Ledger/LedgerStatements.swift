import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// The statements on the ledger in the transaction of `LedgerStore.apply`.
enum LedgerStatements {
    static let recorded = Statement(
        "ledger-recorded",
        "select notification_uuid from notification where notification_uuid = any ($1::uuid[])")

    /// Inserts missing certificate chains; almost always all are stored already.
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
        unsafeSQL: """
            insert into notification (\(LedgerLine.columns.names()))
            select *
            from unnest(\(LedgerLine.columns.placeholders())) as given (\(LedgerLine.columns.names()))
            order by notification_uuid
            on conflict (notification_uuid) do nothing
            """)

    /// The nearest lifecycle events of the same purchase on both sides of each given version. Runs after the purchases are
    /// locked, so that no other writer adds one.
    static let neighbours = Statement(
        "ledger-neighbours",
        unsafeSQL: """
            select \(LedgerLine.columns.selected())
            from unnest($1::text[], $2::text[], $3::timestamptz[], $4::uuid[])
                as given (given_environment, given_purchase, given_at, given_uuid)
            cross join lateral (
                (
                    select *
                    from notification earlier
                    where earlier.environment = given_environment::store_environment
                        and earlier.original_transaction_id = given_purchase
                        and (earlier.signed_at, earlier.notification_uuid) < (given_at, given_uuid)
                        and earlier.is_lifecycle_event
                    order by earlier.signed_at desc, earlier.notification_uuid desc
                    limit 1
                )
                union all
                (
                    select *
                    from notification later
                    where later.environment = given_environment::store_environment
                        and later.original_transaction_id = given_purchase
                        and (later.signed_at, later.notification_uuid) > (given_at, given_uuid)
                        and later.is_lifecycle_event
                    order by later.signed_at, later.notification_uuid
                    limit 1
                )
            ) as near
            """)

    static func command(neighboursOf events: [PurchaseEvent]) -> Command {
        Command(
            neighbours, events.map(\.key.environment.rawValue), events.map(\.key.originalTransactionId),
            events.map(\.version.signedDate), events.map(\.version.notificationUUID))
    }

    /// The newest notification about a refund of each transaction of the purchases. Runs after the purchases are locked, so that no
    /// other writer adds one.
    static let refunds = Statement(
        "ledger-refunds",
        unsafeSQL: """
            select distinct on (environment, original_transaction_id, transaction_id) environment::text as environment,
                original_transaction_id, transaction_id, notification_type, signed_at, notification_uuid
            \(PurchaseKeys.lookingUp("notification"))
            where notification_type in ('CONSUMPTION_REQUEST', 'REFUND', 'REFUND_DECLINED', 'REFUND_REVERSED')
                and transaction_id is not null and signed_at is not null
            order by environment, original_transaction_id, transaction_id, signed_at desc, notification_uuid desc
            """)

    static func command(refundsOf keys: [SubscriptionKey]) -> Command {
        Command(refunds, keys.map(\.environment.rawValue), keys.map(\.originalTransactionId))
    }

    static func refunds(_ rows: Rows) throws -> [SubscriptionKey: [RefundRequest]] {
        try rows.reduce(into: [:]) { refunds, row in
            guard let status = RefundRequest.Status(notificationType: try row.value("notification_type")) else {
                return
            }
            let version = EventVersion(
                signedDate: try row.value("signed_at"), notificationUUID: try row.value("notification_uuid"))
            let key = try SubscriptionStore.key(row)
            refunds[key, default: []].append(
                RefundRequest(transactionId: try row.value("transaction_id"), status: status, version: version))
        }
    }

    /// Ignores conflicts with another writer: in that case `insert` makes the caller roll the transaction back, so this
    /// statement only must not fail. `places` are the indexes of a payload's headers among those of the batch, each list as
    /// one text, because arrays within an array must have the same length. Each header is digested once.
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

    /// Stores the content of redelivered notifications that differs from the stored one, each content once, and counts them.
    /// Content differs if both the decoded text and the signed bytes differ: a later build may decode the same bytes
    /// differently, and Apple may sign the same text again.
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
        set content_conflicts = content_conflicts + conflict.contents
        from (
            select notification_uuid, count(*)::integer as contents
            from kept
            group by notification_uuid
            order by notification_uuid
        ) as conflict
        where notification.notification_uuid = conflict.notification_uuid
        """)

    static func command(keepingConflictsOf repeated: [LedgerEntry], recordedAt: Date) throws -> Command {
        Command(
            keepConflicts, recordedAt, repeated.map(\.uuid),
            repeated.map { String(decoding: $0.notification.decoded, as: UTF8.self) },
            try repeated.map { try $0.notification.signedPayload }, repeated.map(\.notification.original.blob))
    }

    /// No batch that stores a migration runs beside others: where one stores a purchase first and another one what replaced it, neither would
    /// see what the other stores, and the purchase would keep its access. Before all that is read, so that it sees what they committed.
    static let migrating = Statement(
        "ledger-migrating", "select pg_advisory_xact_lock(hashtextextended(current_schema() || ' migrations', 0))")

    static let notMigrating = Statement(
        "ledger-not-migrating",
        "select pg_advisory_xact_lock_shared(hashtextextended(current_schema() || ' migrations', 0))")

    static let transactionId = Statement("ledger-transaction-id", "select pg_current_xact_id()::text as id")

    /// Null where the transaction is of another server, or too old for the server to know its outcome.
    static let transactionStatus = Statement(
        "ledger-transaction-status", "select pg_xact_status($1::text::xid8) as status")

    static func command(inserting lines: [LedgerLine]) -> Command {
        Command(insert, all: LedgerLine.columns.parameters(of: lines))
    }

    /// Inserts the headers first, because the payloads refer to them.
    static func commands(insertingPayloadsOf all: [LedgerEntry], recordedAt: Date) -> [Command] {
        let entries = all.filter(\.keepsPayload)
        let originals = entries.map(\.notification.original)
        let headers = SignedOriginal.distinctHeaders(of: originals)
        let places = originals.map { original in
            let places = original.headers.compactMap { headers.place(of: $0[...]) }
            return "{" + places.map { "\($0 + 1)" }.joined(separator: ",") + "}"
        }
        return [
            Command(keepChains, headers),
            Command(
                insertPayloads, recordedAt, entries.map(\.uuid),
                entries.map { JSONText(String(decoding: $0.notification.decoded, as: UTF8.self)) },
                originals.map(\.blob), places, headers),
        ]
    }
}
