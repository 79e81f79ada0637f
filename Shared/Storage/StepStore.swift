import Contracts
import Postgres
import Subscriptions

import struct Foundation.Date

/// The lives of purchases, step by step in Apple's order. Written by `LedgerStore.apply` only.
///
/// Of the news only that is kept which the questions of `LifecycleGap` and `RenewalSwitch` read; whoever lets them read
/// more adds a column here, and the tests that compare with the news in memory say so.
public struct StepStore: Sendable {
    private let connection: PostgresConnection

    /// All statements run on this connection.
    public init(_ connection: PostgresConnection) { self.connection = connection }

    /// The steps of one purchase, in Apple's order; each with the dates and flags only that make it a step.
    public func steps(of key: SubscriptionKey) async throws -> [PurchaseEvent] {
        try await connection.execute(Self.find, key.environment.rawValue, key.originalTransactionId)
            .map { row in try Self.step(row) }
    }

    static func step(_ row: Row) throws -> PurchaseEvent {
        let version = EventVersion(
            signedDate: try row.value("news_at"), notificationUUID: try row.value("notification_uuid"))
        let transactionId: String? = try row.optional("transaction_id")
        let (purchased, expires): (Date?, Date?) =
            (try row.optional("purchased_at"), try row.optional("expires_at"))
        return PurchaseEvent(
            key: try SubscriptionStore.key(row), version: version, bundleId: "",
            notificationType: try row.value("notification_type"), subtype: try row.optional("subtype"),
            status: try row.optional("status", as: Int64.self).map(Int.init),
            transaction: transactionId.map { id in
                TransactionFacts(
                    transactionId: id, productId: "", productType: "", purchaseDate: purchased, expiresDate: expires,
                    signedDate: version.signedDate)
            },
            renewal: RenewalFacts(
                autoRenewStatus: try row.optional("is_auto_renewing"),
                isInBillingRetry: try row.optional("is_in_billing_retry"), signedDate: version.signedDate))
    }

    static let find = Statement(
        "step-find",
        """
        select environment::text as environment, original_transaction_id, news_at, notification_uuid,
            notification_type, subtype, status, transaction_id, purchased_at, expires_at, is_auto_renewing,
            is_in_billing_retry
        from step
        where environment = $1::text::store_environment and original_transaction_id = $2::text
        order by news_at, notification_uuid
        """)

    /// Of each given version the nearest steps on both sides. Asked for after the purchases are locked, so that no other
    /// writer adds one.
    static let neighbours = Statement(
        "step-neighbours",
        """
        select near.environment::text as environment, near.original_transaction_id, near.news_at,
            near.notification_uuid, near.notification_type, near.subtype, near.status, near.transaction_id,
            near.purchased_at, near.expires_at, near.is_auto_renewing, near.is_in_billing_retry
        from unnest($1::text[], $2::text[], $3::timestamptz[], $4::uuid[])
            as given (environment, original_transaction_id, news_at, notification_uuid)
        cross join lateral (
            (
                select *
                from step
                where step.environment = given.environment::store_environment
                    and step.original_transaction_id = given.original_transaction_id
                    and (step.news_at, step.notification_uuid) < (given.news_at, given.notification_uuid)
                order by step.news_at desc, step.notification_uuid desc
                limit 1
            )
            union all
            (
                select *
                from step
                where step.environment = given.environment::store_environment
                    and step.original_transaction_id = given.original_transaction_id
                    and (step.news_at, step.notification_uuid) > (given.news_at, given.notification_uuid)
                order by step.news_at, step.notification_uuid
                limit 1
            )
        ) as near
        """)

    static let insert = Statement(
        "step-insert",
        """
        insert into step (
            environment, original_transaction_id, news_at, notification_uuid, notification_type, subtype, status,
            transaction_id, purchased_at, expires_at, is_auto_renewing, is_in_billing_retry)
        select environment::store_environment, original_transaction_id, news_at, notification_uuid, notification_type,
            subtype, status, transaction_id, purchased_at, expires_at, is_auto_renewing, is_in_billing_retry
        from unnest(
            $1::text[], $2::text[], $3::timestamptz[], $4::uuid[], $5::text[], $6::text[], $7::bigint[], $8::text[],
            $9::timestamptz[], $10::timestamptz[], $11::boolean[], $12::boolean[]
        ) as given (
            environment, original_transaction_id, news_at, notification_uuid, notification_type, subtype, status,
            transaction_id, purchased_at, expires_at, is_auto_renewing, is_in_billing_retry)
        order by environment, original_transaction_id, news_at, notification_uuid
        on conflict do nothing
        """)

    static func command(neighboursOf steps: [PurchaseEvent]) -> Command {
        Command(
            neighbours, steps.map(\.key.environment.rawValue), steps.map(\.key.originalTransactionId),
            steps.map(\.version.signedDate), steps.map(\.version.notificationUUID))
    }

    static func command(inserting steps: [PurchaseEvent]) -> Command {
        Command(
            insert,
            all: [
                steps.map(\.key.environment.rawValue), steps.map(\.key.originalTransactionId),
                steps.map(\.version.signedDate), steps.map(\.version.notificationUUID), steps.map(\.notificationType),
                steps.map(\.subtype), steps.map { $0.status.map(Int64.init) },
                steps.map { $0.transaction?.transactionId }, steps.map { $0.transaction?.purchaseDate },
                steps.map { $0.transaction?.expiresDate }, steps.map { $0.renewal?.autoRenewStatus },
                steps.map { $0.renewal?.isInBillingRetry },
            ] as [any PostgresParameter])
    }
}
