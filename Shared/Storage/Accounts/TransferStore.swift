import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

/// Restores of purchases that another account of the app had, and whether they moved them.
///
/// The service that receives the restore decides and records it (``StatePreviewStore``); the state-updater tells of it in the timeline and on
/// `subscriptions.changed`, because only that service writes them.
package struct TransferStore: Sendable {
    /// A restore of a purchase that another account had.
    package struct Transfer: Sendable, Equatable {
        package var key: SubscriptionKey
        package var bundleId: String
        /// The account that had the purchase, lower-case UUID text.
        package var from: String
        /// The account that restored it.
        package var to: String
        /// Nil where the account had sent nothing that Apple signed.
        package var evidence: ClaimEvidence?
        /// Of the app at that time.
        package var policy: SharingPolicy
        package var outcome: Restore.Outcome
        /// Whether it counts against the limit of moves, as a move away from the account that Apple names does.
        package var isCounted: Bool

        func move(at date: Date) -> PurchaseMove {
            PurchaseMove(
                key: key, to: to, movedAt: date, isCounted: isCounted,
                isOfLapsed: isCounted && policy == .lastRestoreWinsIfLapsed)
        }
    }

    /// A request that its client may send again, and that then finds what it has decided.
    package struct Request: Sendable, Equatable {
        /// The first one is of what it decides now, the others are of what it may have decided before.
        package var ids: [UUID]
        /// Decisions made before it belong to another request of these ids.
        package var start: Date

        package init(ids: [UUID], start: Date) {
            self.ids = ids
            self.start = start
        }
    }

    /// Rejected moves of one app.
    package struct Rejected: Sendable, Equatable {
        package var bundleId: String
        package var environment: StoreEnvironment
        /// Number of purchases.
        package var purchases: Int
    }

    /// Begins what stands for an app transaction in place of an original transaction id; no purchase of the timeline has it.
    static let appPrefix = "app:"

    private let connection: PostgresConnection

    package init(_ connection: PostgresConnection) { self.connection = connection }

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

    /// - Parameter request: that decided them; nil where its client cannot repeat it.
    static func command(adding transfers: [Transfer], at now: Date, by request: Request?) -> Command {
        Command(
            insert, now, transfers.map(\.key.environment.rawValue), transfers.map(\.key.originalTransactionId),
            transfers.map(\.bundleId), transfers.map { UUID(uuidString: $0.from) ?? .zero },
            transfers.map { UUID(uuidString: $0.to) ?? .zero }, transfers.map { $0.evidence?.rawValue },
            transfers.map(\.policy.rawValue), transfers.map(\.outcome.rawValue), transfers.map(\.isCounted),
            request?.ids.first)
    }

    /// Selects what a request has decided before.
    static func command(decidedBy request: Request, in app: CoverageStore.App) -> Command {
        Command(decided, app.environment.rawValue, app.bundleId, request.ids, request.start)
    }

    static func outcomes(_ rows: Rows) throws -> [SubscriptionKey: Restore.Outcome] {
        try rows.reduce(into: [:]) { outcomes, row in
            outcomes[try SubscriptionStore.key(row)] =
                Restore.Outcome(rawValue: try row.value("outcome")) ?? .policy
        }
    }

    /// Selects the moves of purchases in the order of their acceptance.
    static func command(movesOf purchases: [String], in app: CoverageStore.App) -> Command {
        Command(moves, app.environment.rawValue, app.bundleId, purchases)
    }

    static func moves(_ rows: Rows) throws -> [PurchaseMove] { try rows.map(move) }

    /// What the account takes back that Apple names, it takes whether the purchase has lapsed or not.
    static func move(_ row: Row) throws -> PurchaseMove {
        let isCounted: Bool = try row.value("is_counted")
        let policy: String = try row.value("policy")
        return PurchaseMove(
            key: try SubscriptionStore.key(row), to: try row.optional("to_account"),
            movedAt: try row.value("moved_at"), isCounted: isCounted,
            isOfLapsed: isCounted && policy == SharingPolicy.lastRestoreWinsIfLapsed.rawValue)
    }

    static let statements = [insert, decided, moves, rejected, pending, announced]

    /// A refusal is recorded once an hour for each purchase, account and reason.
    private static let insert = Statement(
        "transfer-insert",
        """
        insert into purchase_transfer (
            moved_at, announced_at, transfer_uuid, environment, original_transaction_id, bundle_id, from_account_token,
            to_account_token, evidence, policy, outcome, is_counted, request_uuid)
        select $1::timestamptz, case when starts_with(original_transaction_id, 'app:') then $1::timestamptz end,
            gen_random_uuid(), environment::store_environment, original_transaction_id, bundle_id,
            from_account, to_account, evidence::claim_evidence, policy, outcome, is_counted, $11::uuid
        from unnest(
            $2::text[], $3::text[], $4::text[], $5::uuid[], $6::uuid[], $7::text[], $8::text[], $9::text[],
            $10::boolean[]
        ) as given (
            environment, original_transaction_id, bundle_id, from_account, to_account, evidence, policy, outcome,
            is_counted)
        where outcome = 'accepted' or not exists (
            select
            from purchase_transfer known
            where known.environment = given.environment::store_environment
                and known.original_transaction_id = given.original_transaction_id
                and known.moved_at > $1::timestamptz - interval '1 hour' and known.outcome = given.outcome
                and known.to_account_token = given.to_account)
        """)

    private static let decided = Statement(
        "transfer-decided",
        """
        select environment::text as environment, original_transaction_id, outcome
        from unnest($3::uuid[]) as request (id)
        cross join lateral (
            select *
            from purchase_transfer
            where request_uuid = request.id
            offset 0
        ) as made
        where environment = $1::text::store_environment and bundle_id = $2::text and moved_at > $4::timestamptz
        order by made.id
        """)

    private static let moves = Statement(
        "transfer-moves",
        """
        select environment::text as environment, original_transaction_id, to_account_token::text as to_account, moved_at,
            is_counted, policy
        from purchase_transfer
        where environment = $1::text::store_environment and bundle_id = $2::text
            and original_transaction_id = any ($3::text[]) and outcome = 'accepted'
        order by id
        """)

    private static let rejected = Statement(
        "transfer-rejected",
        """
        select bundle_id, environment::text as environment, count(distinct original_transaction_id) as purchases
        from purchase_transfer
        where moved_at > $1::timestamptz and outcome = 'tooMany'
        group by purchase_transfer.bundle_id, purchase_transfer.environment
        order by purchase_transfer.bundle_id, purchase_transfer.environment
        """)

    private static let pending = Statement(
        "transfer-pending",
        """
        select id, moved_at, transfer_uuid, environment::text as environment, original_transaction_id,
            from_account_token::text as from_account, to_account_token::text as to_account
        from purchase_transfer
        where announced_at is null and outcome = 'accepted' and exists (
            select
            from subscription held
            where held.environment = purchase_transfer.environment
                and held.original_transaction_id = purchase_transfer.original_transaction_id)
        order by id
        limit $1::bigint
        for update
        """)

    private static let announced = Statement(
        "transfer-announced",
        "update purchase_transfer set announced_at = $2::timestamptz where id = any ($1::bigint[])")
}
