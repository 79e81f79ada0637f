/// Which function answers which operation of `openapi.json`: one line for each `operationId`.
enum Handlers {
    static func all(_ dependencies: Dependencies) -> [String: Handler] {
        let document = DocumentHandler(dependencies)
        let entitlements = EntitlementHandlers(dependencies)
        let subscriptions = SubscriptionHandlers(dependencies)
        let customers = CustomerHandlers(dependencies)
        let grants = GrantHandlers(dependencies)
        let events = EventHandlers(dependencies)
        let uploads = UploadHandlers(dependencies)
        let offers = OfferHandlers(dependencies)
        return [
            "getDocument": document.get,
            "getDocumentAsYAML": document.get,
            "getAccountEntitlements": entitlements.ofAccount,
            "getCustomerEntitlements": entitlements.ofCustomer,
            "queryEntitlements": entitlements.query,
            "uploadTransactions": uploads.transactions,
            "restorePurchases": uploads.restore,
            "uploadReceipt": ReceiptHandlers(dependencies).upload,
            "signPromotionalOffer": offers.promotional,
            "getIntroductoryOfferEligibility": offers.introductoryEligibility,
            "getSubscription": subscriptions.get,
            "getSubscriptionTimeline": subscriptions.timeline,
            "getSubscriptionNotifications": subscriptions.notifications,
            "getTransaction": subscriptions.transaction,
            "search": SearchHandler(dependencies).search,
            "putCustomer": customers.put,
            "getCustomer": customers.get,
            "deleteCustomer": customers.delete,
            "createGrant": grants.create,
            "listGrants": grants.list,
            "revokeGrant": grants.revoke,
            "listEvents": events.list,
            "streamEvents": events.stream,
        ]
    }
}
