import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Purchases that restores moved from one account of an app to another.
///
/// The service that receives the restore records the move; the state-updater tells of it in the timeline and on
/// `subscriptions.changed`, because only that service writes them.
package struct TransferStore: Sendable {
    /// A move of a purchase.
    package struct Transfer: Sendable, Equatable {
        package var key: SubscriptionKey
        package var bundleId: String
        /// The account that had the purchase, lower-case UUID text.
        package var from: String
        /// The account that restored it.
        package var to: String
    }

    /// Rejected moves of one app.
    package struct Rejected: Sendable, Equatable {
        package var bundleId: String
        package var environment: StoreEnvironment
        /// Number of purchases.
        package var purchases: Int
    }

    /// The number of moves of one purchase within ``window``; one more is rejected, because accounts that pass a purchase around
    /// share what one customer paid for.
    package static let limit = 3
    /// Seconds.
    package static let window: Double = 30 * 86_400
    /// The name of the event in the timeline and in its message.
    package static let eventName = "PURCHASE_TRANSFERRED"

    private let connection: PostgresConnection

    /// All statements run on this connection.
    package init(_ connection: PostgresConnection) { self.connection = connection }

    /// The purchases that have moved too often to move again.
    package func exhausted(among transfers: [Transfer], at now: Date) async throws -> [SubscriptionKey] {
        guard !transfers.isEmpty else { return [] }
        return try await connection.execute(
            Self.exhausted, transfers.map(\.key.environment.rawValue), transfers.map(\.key.originalTransactionId),
            now.addingTimeInterval(-Self.window), Int64(Self.limit)
        ).map { row in try SubscriptionStore.key(row) }
    }

    /// Records claims with the moves that they cause and the entries of the audit log about them, together.
    package func add(
        _ claims: [AccountClaim], moving transfers: [Transfer], recording actions: [OperatorAction] = [], at now: Date
    ) async throws {
        _ = try await repeating {
            try await connection.pipeline(
                [ClaimStatements.command(claiming: claims)]
                    + (transfers.isEmpty ? [] : [Self.command(adding: transfers, isRejected: false, at: now)])
                    + (actions.isEmpty ? [] : [OperatorActionStore.command(recording: actions)]))
        }
    }

    /// Records that moves were rejected, for operators.
    package func reject(_ transfers: [Transfer], at now: Date) async throws {
        _ = try await connection.pipeline([Self.command(adding: transfers, isRejected: true, at: now)])
    }

    /// The apps with rejected moves since a moment.
    package func rejected(since moment: Date) async throws -> [Rejected] {
        try await connection.execute(Self.rejected, moment).map { row in
            Rejected(
                bundleId: try row.value("bundle_id"),
                environment: try StoreEnvironment(stored: row.value("environment")),
                purchases: Int(try row.value("purchases", as: Int64.self)))
        }
    }

    /// Tells of the next moves in the timeline. Those of purchases that the pipeline has not written yet wait.
    /// - Returns: number of moves told.
    package func announce(limit: Int = 100, at now: Date) async throws -> Int {
        try await repeating {
            try await connection.transaction { transaction in
                let pending = try transaction.execute(Self.pending, Int64(limit))
                guard !pending.isEmpty else { return 0 }
                let keys = Set(try pending.map { row in try SubscriptionStore.key(row) }).sorted()
                var (purchases, _) = try PurchaseInBatch.read(
                    transaction.pipeline(PurchaseInBatch.commands(reading: keys))[...])
                var effects = LedgerBatch.Effects(gaps: Gaps(added: [], neighbours: []))
                for row in pending {
                    // An erased account is not told of.
                    guard let from = try row.optional("from_account", as: String.self),
                        let to = try row.optional("to_account", as: String.self)
                    else { continue }
                    let version = EventVersion(
                        signedDate: try row.value("moved_at"), notificationUUID: try row.value("transfer_uuid"))
                    let told = try purchases[SubscriptionStore.key(row)]?.transferred(
                        from: from, to: to, version: version, at: now)
                    if let told { effects.timeline.append(told) }
                }
                effects.written = keys.compactMap { purchases[$0] }.filter(\.isWritten)
                var writing = LedgerWriting(transaction)
                try writing.write(effects, of: LedgerBatch.Additions(), recordedAt: now)
                _ = try writing.results()
                let ids = try pending.map { row in try row.value("id", as: Int64.self) }
                _ = try transaction.execute(Self.announced, ids, now)
                return pending.count
            }
        }
    }

    private static func command(adding transfers: [Transfer], isRejected: Bool, at now: Date) -> Command {
        Command(
            insert, now, isRejected, transfers.map(\.key.environment.rawValue),
            transfers.map(\.key.originalTransactionId), transfers.map(\.bundleId),
            transfers.map { UUID(uuidString: $0.from) ?? .zero }, transfers.map { UUID(uuidString: $0.to) ?? .zero })
    }

    static let statements = [exhausted, insert, rejected, pending, announced]

    private static let exhausted = Statement(
        "transfer-exhausted",
        """
        select environment::text as environment, original_transaction_id
        from (
            select distinct environment::store_environment as environment, original_transaction_id
            from unnest($1::text[], $2::text[]) as given (environment, original_transaction_id)
        ) as given
        where (
            select count(*)
            from purchase_transfer moved
            where moved.environment = given.environment
                and moved.original_transaction_id = given.original_transaction_id
                and moved.moved_at > $3::timestamptz and not moved.is_rejected
        ) >= $4::bigint
        """)

    /// A rejection is recorded once an hour for each purchase.
    private static let insert = Statement(
        "transfer-insert",
        """
        insert into purchase_transfer (
            moved_at, transfer_uuid, is_rejected, environment, original_transaction_id, bundle_id, from_account_token,
            to_account_token)
        select $1::timestamptz, gen_random_uuid(), $2::boolean, environment::store_environment, original_transaction_id,
            bundle_id, from_account, to_account
        from unnest($3::text[], $4::text[], $5::text[], $6::uuid[], $7::uuid[])
            as given (environment, original_transaction_id, bundle_id, from_account, to_account)
        where not $2::boolean or not exists (
            select
            from purchase_transfer known
            where known.environment = given.environment::store_environment
                and known.original_transaction_id = given.original_transaction_id and known.is_rejected
                and known.moved_at > $1::timestamptz - interval '1 hour')
        """)

    private static let rejected = Statement(
        "transfer-rejected",
        """
        select bundle_id, environment::text as environment, count(distinct original_transaction_id) as purchases
        from purchase_transfer
        where moved_at > $1::timestamptz and is_rejected
        group by purchase_transfer.bundle_id, purchase_transfer.environment
        order by purchase_transfer.bundle_id, purchase_transfer.environment
        """)

    private static let pending = Statement(
        "transfer-pending",
        """
        select id, moved_at, transfer_uuid, environment::text as environment, original_transaction_id,
            from_account_token::text as from_account, to_account_token::text as to_account
        from purchase_transfer
        where announced_at is null and not is_rejected and exists (
            select
            from subscription held
            where held.environment = purchase_transfer.environment
                and held.original_transaction_id = purchase_transfer.original_transaction_id)
        order by id
        limit $1::bigint
        for update skip locked
        """)

    private static let announced = Statement(
        "transfer-announced",
        "update purchase_transfer set announced_at = $2::timestamptz where id = any ($1::bigint[])")
}
