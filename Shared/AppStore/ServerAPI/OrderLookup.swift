/// What the App Store knows of the order number on a customer's receipt.
public struct OrderLookup: Sendable {
    /// Invalid is an answer, not an error: the number is mistyped, or of another app.
    public let status: OrderLookupStatus?
    /// What was bought under it.
    public let transactions: [SignedItem<JWSTransactionDecodedPayload>]

    init(_ response: OrderLookupResponse, _ prover: AnswerProver) {
        status = response.status
        transactions = prover.transactions(response.signedTransactions)
    }
}
