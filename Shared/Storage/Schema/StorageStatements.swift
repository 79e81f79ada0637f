import Postgres

/// Every statement of this module, so that one test can prepare each of them against the migrated schema.
public enum StorageStatements {
    /// All statements, in no particular order.
    public static let all: [Statement] =
        MigratorStatements.all + [
            Grants.missing, Grants.privileges, Grants.settable, PrivilegeAudit.open, RetentionStore.missing,
            RetentionStore.copy,
            RetentionStore.make, RetentionStore.months,
            RetentionStore.drop,
        ]
        + LedgerPages.statements + ledger + AccessRecalculation.statements
        + AccessEndStore.statements + coverage + recovery + api + console + webhooks
        + OwnershipStore.statements + PolicyApplication.statements + refunds + FigureStore.statements
        + FigureCheck.statements + FigureReportStore.statements + ExchangeRateStore.statements
        + ProceedsTermsStore.statements + ComparisonStore.statements + [
            SeenNotificationStore.claimFirst, SeenNotificationStore.owners, SeenNotificationStore.delete,
            SeenNotificationStore.countBefore,
            PositionStore.read, PositionStore.insert, PositionStore.list, PositionStore.known, PositionStore.remove,
            PositionStore.move,
            TransactionStore.find, TransactionStore.ofAccount, TransactionStore.ofPurchases, TransactionStore.upsert,
            TransactionStore.migrations, TransactionStore.originals,
            SubscriptionStatements.find, SubscriptionStatements.page, SubscriptionStatements.ofPurchases,
            SubscriptionStatements.lock,
            SubscriptionStatements.insert, SubscriptionStatements.update,
            AnomalyStore.find, AnomalyStore.upsert, RefundRequestStore.upsert,
            AccessPeriodStatements.ofPurchases, AccessPeriodStatements.remove, AccessPeriodStatements.change,
            AccessPeriodStatements.insert,
            AccessStore.all, AccessStore.ofPurchase, AccessStore.ofAccount, AccessStore.isKnown,
            LifecycleGapStore.find, LifecycleGapStore.remove, LifecycleGapStore.insert, LifecycleGapStore.request,
            TimelineStore.newest, TimelineStore.ofPurchase, TimelineStore.insert,
            AppleRequestLimitStore.take, AppleRequestLimitStore.pause, AppleRequestLimitStore.close,
            LeaseStore.acquire, LeaseStore.release, OutboxStore.changes, OutboxStore.unpublished,
            OutboxStore.changesPublished,
            OutboxStore.announcement, OutboxStore.withdraw, OutboxStore.requests, OutboxStore.requestsPublished,
            ProductStore.levels, ProductStore.setLevels, ProductStore.setDurations, ProductStore.setCredits,
            ProductStore.credits,
            ProductStore.configured, ProductStore.durations,
            CustomerStore.withheld, CustomerStore.claims, CustomerStore.shared, ClaimStatements.upsert,
            ClaimStatements.notice,
            SharingStore.policies, SharingStore.policy, SharingStore.setPolicy, SharingStore.chosen,
            SharingStore.choose,
            SharingStore.unchoose, SharingStore.contested,
            NotificationStore.page, NotificationStore.ofPurchase, NotificationStore.decoded, NotificationStore.original,
            NotificationStore.conflicts,
            RejectedStore.insert, RejectedStore.delete,
            NotificationStore.search, NotificationStore.one,
            IncidentStore.newest, IncidentStore.beginning, IncidentStore.rejections, IncidentStore.receivers,
            IncidentStore.version1,
            OperatorActionStore.insert, OperatorActionStore.bySubject, OperatorActionStore.newest,
            OperatorActionStore.lock, OperatorActionStore.unfailed,
            BlockingSession.all, OldestWriter.current, ServerClock.statement, StatusStore.count,
            StatusStore.latencies,
        ]

    private static let api =
        ClientKeyStore.statements + IdempotencyStore.statements + EntitlementStore.statements
        + PurchasePages.statements + EventFeed.statements + CustomerRecords.statements + SearchStore.statements
        + ProductTransactionStore.statements + PriceReports.statements + ExternalPurchaseTokens.statements
        + RefreshStore.statements + EntitlementDefinitionStore.statements + ConsentStore.statements
        + AccountAppStore.statements + ErasureStore.statements + TransferStore.statements + CreditStore.statements
        + OfferRuleStore.statements + OfferSignatureStore.statements + OfferDecisionStore.statements

    private static let console =
        ConsoleSessions.statements + ConsolePages.statements + DeadLetterGroups.statements
        + DeadLetterSelections.statements + InsightStore.statements

    private static let webhooks =
        WebhookEndpointStore.statements + WebhookQueueStore.statements + WebhookSettlement.statements
        + WebhookLog.statements + WebhookReplayStore.statements + WebhookRetention.statements

    private static let refunds =
        RefundDecisionStore.statements + RefundPolicyStore.statements + UsageReportStore.statements
        + RefundStatusStore.statements + RefundRequestPages.statements + RefundOutcomeStore.statements

    private static let coverage =
        HeartbeatStore.statements + CoverageStore.statements + RecoveryWindowStore.statements
        + WindowClaimStore.statements + CanaryStore.statements + OverdueStore.statements

    private static let recovery =
        RecoveryItemStore.statements + SendAttemptStore.statements + RecoveryAnswerStore.statements
        + PostponedRequestStore.statements

    private static let ledger = [
        LedgerStatements.migrating, LedgerStatements.notMigrating, LedgerStatements.recorded,
        LedgerStatements.keepChains, LedgerStatements.insert, LedgerStatements.neighbours, LedgerStatements.refunds,
        LedgerStatements.insertPayloads,
        LedgerStatements.keepConflicts, LedgerStatements.transactionId, LedgerStatements.transactionStatus,
    ]
}
