import AppStore

/// Up to twenty refunded transactions of a customer.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/refundhistoryresponse>
public struct RefundHistoryPage: APIPage {
    /// Each with a revocation date.
    public let transactions: [SignedItem<JWSTransactionDecodedPayload>]
    /// The revision; every page has one.
    public let position: String?
    /// Whether there is a next page now.
    public let hasMore: Bool

    /// Whether it has no items.
    public var isEmpty: Bool { transactions.isEmpty }

    init(_ response: RefundHistoryResponse, _ prover: AnswerProver) {
        transactions = prover.transactions(response.signedTransactions)
        position = response.revision
        hasMore = response.hasMore ?? false
    }
}
