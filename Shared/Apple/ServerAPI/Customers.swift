import AppStore

/// What one customer has bought.
extension AppStoreServerAPI {
    /// One transaction. 50 requests a second.
    ///
    /// - Throws: `APIError` with `transactionIdNotFound`, also for ids of the other environment.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info>
    public func transactionInfo(_ transactionId: String) async throws -> SignedItem<JWSTransactionDecodedPayload> {
        let endpoint = APIEndpoint.transactionInfo
        let response: TransactionInfoResponse = try await answer(
            APIRequest(endpoint, .get, ["inApps", "v1", "transactions", transactionId]))
        return prover.transaction(
            try required(response.signedTransactionInfo, "signedTransactionInfo", of: endpoint))
    }

    /// Which transaction history to ask for.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history-v1>
    public enum TransactionHistoryVersion: String, Sendable, Hashable {
        /// Without consumables that have been finished; superseded by Apple.
        case v1
        /// All.
        case v2
    }

    /// All transactions of a customer, whichever of them is named. 50 requests a second.
    ///
    /// - Parameter revision: Of a page of the same query, however long ago: only what is new or has changed comes after it.
    /// - Throws: On asking for a page: `APIError` with `invalidRequestRevision` where the query is another.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-transaction-history>
    public func transactionHistory(
        of anyTransactionId: String, _ query: TransactionHistoryQuery = TransactionHistoryQuery(),
        version: TransactionHistoryVersion = .v2, from revision: String? = nil
    ) -> APIPages<TransactionHistoryPage> {
        APIPages(start: revision) { revision in
            let response: HistoryResponse = try await answer(
                APIRequest(
                    .transactionHistory, .get, ["inApps", version.rawValue, "history", anyTransactionId],
                    query: Self.position("revision", revision) + query.parameters))
            return TransactionHistoryPage(response, prover)
        }
    }

    /// All refunds of a customer. 10 requests a second.
    ///
    /// - Parameter revision: Of an earlier page.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-refund-history>
    public func refundHistory(
        of anyTransactionId: String, from revision: String? = nil
    ) -> APIPages<RefundHistoryPage> {
        APIPages(start: revision) { revision in
            let response: RefundHistoryResponse = try await answer(
                APIRequest(
                    .refundHistory, .get, ["inApps", "v2", "refund", "lookup", anyTransactionId],
                    query: Self.position("revision", revision)))
            return RefundHistoryPage(response, prover)
        }
    }

    /// Where all subscriptions of a customer stand. 50 requests a second.
    ///
    /// - Parameter statuses: Only those that stand so; none for all.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses>
    public func subscriptionStatuses(
        of anyTransactionId: String, statuses: [SubscriptionStatus] = []
    ) async throws -> SubscriptionStatuses {
        let response: StatusResponse = try await answer(
            APIRequest(
                .subscriptionStatuses, .get, ["inApps", "v1", "subscriptions", anyTransactionId],
                query: statuses.map { ("status", String($0.rawValue)) }))
        return SubscriptionStatuses(response, prover)
    }

    /// The purchase of the app itself. 50 requests a second.
    ///
    /// - Throws: `APIError` with `appTransactionDoesNotExist`.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-app-transaction-info>
    public func appTransactionInfo(_ anyTransactionId: String) async throws -> SignedItem<AppTransaction> {
        let endpoint = APIEndpoint.appTransactionInfo
        let response: AppTransactionInfoResponse = try await answer(
            APIRequest(endpoint, .get, ["inApps", "v1", "transactions", "appTransactions", anyTransactionId]))
        return prover.appTransaction(
            try required(response.signedAppTransactionInfo, "signedAppTransactionInfo", of: endpoint))
    }

    /// What was bought under the order number of a customer's receipt. 10 requests a second; not in sandbox.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/look-up-order-id>
    public func lookUpOrder(_ orderId: String) async throws -> OrderLookup {
        let response: OrderLookupResponse = try await answer(
            APIRequest(.orderLookup, .get, ["inApps", "v1", "lookup", orderId]))
        return OrderLookup(response, prover)
    }

    private static func position(_ name: String, _ value: String?) -> [(String, String)] {
        value.map { [(name, $0)] } ?? []
    }
}
