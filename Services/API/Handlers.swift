/// Which function answers which operation of `openapi.json`: one line for each `operationId`.
enum Handlers {
    static func all(_ dependencies: Dependencies) -> [String: Handler] {
        let document = DocumentHandler(dependencies.document)
        let entitlements = EntitlementHandlers(dependencies)
        let subscriptions = SubscriptionHandlers(dependencies)
        let requests = SubscriptionRequests(dependencies)
        let definitions = DefinitionHandlers(dependencies)
        let consents = ConsentHandlers(dependencies)
        let customers = CustomerHandlers(dependencies)
        let grants = GrantHandlers(dependencies)
        let events = EventHandlers(dependencies)
        let uploads = UploadHandlers(dependencies)
        let offers = OfferHandlers(dependencies)
        let webhooks = WebhookHandlers(dependencies)
        let refunds = RefundHandlers(dependencies)
        let credits = CreditHandlers(dependencies)
        let insight = InsightHandler(dependencies)
        return [
            "getDocument": document.get,
            "getDocumentAsYAML": document.get,
            "getReference": document.reference,
            "getAccountEntitlements": entitlements.ofAccount,
            "getCustomerEntitlements": entitlements.ofCustomer,
            "getAccountProduct": entitlements.ofProduct,
            "queryEntitlements": entitlements.query,
            "getAccountBalances": credits.balances,
            "creditTransaction": credits.credit,
            "uploadTransactions": uploads.transactions,
            "restorePurchases": uploads.restore,
            "uploadReceipt": ReceiptHandlers(dependencies).upload,
            "getAccountOffers": offers.ofAccount,
            "signPromotionalOffer": offers.promotional,
            "getIntroductoryOfferEligibility": offers.introductoryEligibility,
            "getSubscription": subscriptions.get,
            "getSubscriptionTimeline": subscriptions.timeline,
            "getSubscriptionNotifications": subscriptions.notifications,
            "getTransaction": subscriptions.transaction,
            "refreshSubscription": requests.refresh,
            "extendSubscription": requests.extend,
            "getOrder": OrderHandler(dependencies).lookUp,
            "listEntitlementDefinitions": definitions.list,
            "getEntitlementDefinition": definitions.get,
            "putEntitlementDefinition": definitions.put,
            "putConsent": consents.put,
            "listConsents": consents.list,
            "withdrawConsent": consents.withdraw,
            "sendConsumption": refunds.sendConsumption,
            "search": SearchHandler(dependencies).search,
            "putCustomer": customers.put,
            "getCustomer": customers.get,
            "listCustomerAccounts": customers.accounts,
            "deleteCustomer": customers.delete,
            "eraseCustomer": ErasureHandler(dependencies).erase,
            "createGrant": grants.create,
            "listGrants": grants.list,
            "revokeGrant": grants.revoke,
            "listEvents": events.list,
            "streamEvents": events.stream,
            "listWebhookEndpoints": webhooks.list,
            "listWebhookDeliveries": webhooks.deliveries,
            "testWebhookEndpoint": webhooks.test,
            "replayWebhooks": webhooks.replay,
            "listRefundRequests": refunds.list,
            "getRefundRequest": refunds.get,
            "answerRefundRequest": refunds.answer,
            "reportUsage": refunds.reportUsage,
            "getRefundPolicy": refunds.getPolicy,
            "putRefundPolicy": refunds.putPolicy,
            "getInsight": insight.report,
            "listInsightPurchases": insight.purchases,
            "listInsightCorrections": insight.corrections,
        ]
    }
}
