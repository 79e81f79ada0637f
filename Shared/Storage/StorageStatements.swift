import Postgres

/// Every statement of this module, so that one test can prepare each of them against the migrated schema.
public enum StorageStatements {
    /// In no particular order.
    public static let all: [Statement] =
        MigratorStatements.all + ledger + [
            SightingStore.claimFirst, SightingStore.owners, SightingStore.forget,
            PositionStore.read, PositionStore.insert, PositionStore.list, PositionStore.remove,
            PositionStore.move,
            TransactionStore.find, TransactionStore.upsert,
            SubscriptionStatements.find, SubscriptionStatements.page, SubscriptionStatements.lock,
            SubscriptionStatements.upsert,
            MarkStore.find, MarkStore.upsert,
            StepStore.find, StepStore.neighbours, StepStore.insert,
            SkippedStepStore.find, SkippedStepStore.remove, SkippedStepStore.insert, SkippedStepStore.request,
            TimelineStore.newest, TimelineStore.changes, TimelineStore.insert,
            LeaseStore.take, LeaseStore.give, OutboxStore.changes, OutboxStore.changesPublished,
            OutboxStore.withdraw, OutboxStore.requests, OutboxStore.requestsPublished,
            EntitlementStore.find, EntitlementStore.setLevels, CustomerStore.claims, CustomerStore.shared,
            InsightStore.cancellations, InsightStore.expiryReason,
            NotificationStore.page, NotificationStore.ofPurchase, NotificationStore.decoded, NotificationStore.original,
            NotificationStore.conflicts,
            RejectedStore.insert, RejectedStore.newest, RejectedStore.counts,
            HeartbeatStore.upsert,
            StatusStore.totals, StatusStore.count, StatusStore.kinds, StatusStore.latencies,
        ]

    private static let ledger = [
        LedgerStatements.recorded, LedgerStatements.keepChains, LedgerStatements.digests, LedgerStatements.insert,
        LedgerStatements.flagConflicts,
        LedgerStatements.keepConflicts, LedgerStatements.transactionId, LedgerStatements.transactionStatus,
    ]
}
