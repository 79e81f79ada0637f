import Contracts
import Postgres

import struct Foundation.Date

/// The outbox: changes of the timeline and recovery requests that are not published yet.
///
/// Ids do not commit in their order, so no publisher remembers the last id: each read selects the unpublished rows. Ids of
/// one purchase do commit in order, because its row is locked while they are assigned.
public struct OutboxStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// A message and the row it comes from.
    public struct Waiting<Message: Sendable>: Sendable {
        /// The id by which it is marked as published.
        public var id: Int64
        /// The message to send.
        public var message: Message
    }

    /// The oldest unpublished changes, in order. Send all of them in this order before marking any.
    public func changes(limit: Int = 500) async throws -> [Waiting<SubscriptionChanged>] {
        try await connection.execute(Self.changes, Int64(limit)).map { row in
            let row = try TimelineRow.read(row)
            return Waiting(id: row.id, message: SubscriptionChanged(row))
        }
    }

    /// Number of changes that are not published, and when the oldest of them was stored; nil where all are published.
    public func unpublished() async throws -> (count: Int64, oldest: Date)? {
        guard let row = try await connection.execute(Self.unpublished).first,
            let oldest = try row.optional("oldest", as: Date.self)
        else { return nil }
        return (try row.value("count"), oldest)
    }

    /// Waits until a process announces changes or requests, at most so long; other statements of the connection wait meanwhile.
    /// Behind a connection pooler that shares sessions nothing arrives.
    /// - Returns: whether there was an announcement, or one may have been missed.
    public func awaitAnnouncement(within limit: Duration) async throws -> Bool {
        try await connection.awaitNotification(on: Self.channel, within: limit)
    }

    /// Announces to publishers that changes or requests were committed. Not within that transaction: Postgres makes all commits
    /// with a NOTIFY wait for one another.
    public func announce() async throws { _ = try await connection.execute(Self.announcement) }

    /// Marks changes as published, after Kafka has acknowledged them.
    public func markPublished(changes ids: [Int64], at time: Date) async throws {
        _ = try await repeating { try await connection.execute(Self.changesPublished, ids, time) }
    }

    /// The recovery requests that are due. Requests whose gap has closed are skipped. An operator's request has no gap and is
    /// due at once.
    /// - Parameter time: requests noticed later wait, because most gaps are notifications out of order.
    public func requests(noticedBefore time: Date, limit: Int = 500) async throws -> [Waiting<RecoveryRequest>] {
        try await repeating {
            try await connection.pipeline([
                Command(Self.withdraw, time), Command(Self.requests, time, Int64(limit)),
            ])[1]
        }.map { row in
            Waiting(id: try row.value("id"), message: try RecoveryRequest(row))
        }
    }

    /// Marks requests as published, after Kafka has acknowledged them.
    public func markPublished(requests ids: [Int64], at time: Date) async throws {
        _ = try await repeating { try await connection.execute(Self.requestsPublished, ids, time) }
    }

    private static let channel = "storekeeper_outbox"

    static let announcement = Statement(
        "outbox-announcement", unsafeSQL: "select pg_notify('\(channel)', '')")

    static let unpublished = Statement(
        "outbox-unpublished",
        "select count(*) as count, min(applied_at) as oldest from timeline where published_at is null")

    static let changes = Statement(
        "outbox-changes",
        unsafeSQL: """
            select \(TimelineRow.selected)
            from \(TimelineRow.source)
            where published_at is null
            order by id
            limit $1::bigint
            """)

    static let changesPublished = Statement(
        "outbox-changes-published",
        """
        update timeline
        set published_at = $2::timestamptz, traceparent = null
        where id = any ($1::bigint[]) and published_at is null
        """)

    static let withdraw = Statement(
        "outbox-withdraw",
        unsafeSQL: """
            delete from recovery_request as request
            where published_at is null and requested_at <= $1::timestamptz and reason <> '\(RefreshStore.reason)'
                and not exists (
                    select from lifecycle_gap
                    where lifecycle_gap.environment = request.environment
                        and lifecycle_gap.original_transaction_id = request.original_transaction_id
                        and lifecycle_gap.before_uuid = request.before_uuid)
            """)

    static let requests = Statement(
        "outbox-requests",
        unsafeSQL: """
            select id, environment::text as environment, original_transaction_id, bundle_id, reason, before_uuid, from_at,
                to_at, requested_at
            from recovery_request
            where published_at is null
                and (requested_at <= $1::timestamptz or reason = '\(RefreshStore.reason)')
            order by id
            limit $2::bigint
            """)

    static let requestsPublished = Statement(
        "outbox-requests-published",
        """
        update recovery_request
        set published_at = $2::timestamptz
        where id = any ($1::bigint[]) and published_at is null
        """)
}

extension SubscriptionChanged {
    /// The message of a row of the timeline.
    init(_ row: TimelineRow) {
        self.init(
            environment: row.key.environment, originalTransactionId: row.key.originalTransactionId,
            bundleId: row.bundleId, appAccountToken: row.appAccountToken, event: row.event,
            changes: row.changes.map(\.cut), state: row.state, transaction: row.transaction?.cut,
            revision: row.revision,
            sequence: row.id, notificationUUID: row.notificationUUID, occurredAt: row.occurredAt,
            appliedAt: row.appliedAt, traceparent: row.traceparent)
    }
}

// Kafka's default limit of a record is 1 MB, and a single text of Apple's may be as long.

extension FactChange {
    fileprivate var cut: FactChange {
        FactChange(fact: fact, from: from?.cut, to: to?.cut, transactionId: transactionId)
    }
}

extension SubscriptionChanged.Transaction {
    fileprivate var cut: Self {
        var short = self
        (short.productId, short.type) = (productId.cut, type.cut)
        (short.currency, short.storefront) = (currency?.cut, storefront?.cut)
        (short.offerIdentifier, short.offerDiscountType) = (offerIdentifier?.cut, offerDiscountType?.cut)
        short.inAppOwnershipType = inAppOwnershipType?.cut
        return short
    }
}

extension String {
    /// Not by characters: any number of combining marks belong to one.
    fileprivate var cut: String { utf8.count <= 4096 ? self : String(Substring(unicodeScalars.prefix(4096))) }
}
