import AppStore

/// The statuses of all subscriptions of a customer.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/statusresponse>
public struct SubscriptionStatuses: Sendable {
    /// The newest of one subscription.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/lasttransactionsitem>
    public struct Item: Sendable {
        /// Not signed: Apple answered it over TLS, at the time of the call.
        public let status: SubscriptionStatus?
        /// As the answer names it; the transaction has the proven one.
        public let originalTransactionId: String?
        /// Nil where the answer has none.
        public let transaction: SignedItem<JWSTransactionDecodedPayload>?
        /// Nil where the answer has none.
        public let renewalInfo: SignedItem<JWSRenewalInfoDecodedPayload>?
    }

    /// The subscriptions of one group.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/subscriptiongroupidentifieritem>
    public struct Group: Sendable {
        /// Of the group, as in App Store Connect.
        public let subscriptionGroupIdentifier: String?
        /// One for each subscription that the customer ever had in it.
        public let items: [Item]
    }

    /// By group; empty for a customer who never subscribed.
    public let groups: [Group]

    init(_ response: StatusResponse, _ prover: AnswerProver) {
        groups = response.data.map { group in
            Group(
                subscriptionGroupIdentifier: group.subscriptionGroupIdentifier,
                items: group.lastTransactions.map { last in
                    let transaction = last.signedTransactionInfo.map(prover.transaction)
                    return Item(
                        status: last.status, originalTransactionId: last.originalTransactionId,
                        transaction: transaction,
                        renewalInfo: last.signedRenewalInfo.map { prover.renewalInfo($0, of: transaction) })
                })
        }
    }
}
