import AppStore

/// Up to twenty transactions of a customer.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/historyresponse>
public struct TransactionHistoryPage: APIPage {
    /// In the order of their last change; one that changed, by a refund for instance, appears again.
    public let transactions: [SignedItem<JWSTransactionDecodedPayload>]
    /// The revision. Every page has one, the last as well: stored with the original transaction id, it makes the next query
    /// return only what is new or has changed since. Only in ascending order.
    public let position: String?
    /// Whether there is a next page now.
    public let hasMore: Bool

    /// Whether it has no items.
    public var isEmpty: Bool { transactions.isEmpty }

    init(_ response: HistoryResponse, _ prover: AnswerProver) {
        transactions = prover.transactions(response.signedTransactions)
        position = response.revision
        hasMore = response.hasMore ?? false
    }
}
