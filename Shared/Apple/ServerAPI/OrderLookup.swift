import AppStore

/// The App Store's answer about the order number on a customer's receipt.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/orderlookupresponse>
public struct OrderLookup: Sendable {
    /// Invalid is an answer, not an error: the number is mistyped, or of another app.
    public let status: OrderLookupStatus?
    /// The purchases of the order.
    public let transactions: [SignedItem<JWSTransactionDecodedPayload>]

    init(_ response: OrderLookupResponse, _ prover: AnswerProver) {
        status = response.status
        transactions = prover.transactions(response.signedTransactions)
    }
}
