import StrictJSON

extension JWSTransactionDecodedPayload {
    /// The refunded share of the price in thousandths of a percent. Of Advanced Commerce, where Apple signs the amount of each item's refunds
    /// in place of a share of the whole, it sums those up. Nil where nothing was refunded, or an amount is missing.
    ///
    /// [advancedCommerceRefund](https://developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund)
    public var refundedShare: Int64? {
        if let revocationPercentage { return revocationPercentage }
        let refunds = itemRefunds
        let amounts = refunds.compactMap(\.refundAmount)
        guard let price, price > 0, !refunds.isEmpty, amounts.count == refunds.count else { return nil }
        let sum = amounts.reduce(0.0) { $0 + Double($1) }
        return Int64((min(max(sum / Double(price), 0), 1) * 100_000).rounded())
    }

    /// The refunds of the items of Advanced Commerce; Apple signs them in every later version of the transaction.
    ///
    /// [advancedCommerceRefund](https://developer.apple.com/documentation/appstoreserverapi/advancedcommercerefund)
    public var itemRefunds: [AdvancedCommerceInfo.Refund] { commerceItems.flatMap { $0.refunds ?? [] } }

    /// Whether items of Advanced Commerce were refunded or revoked while the transaction goes on: only its own `revocationDate` ends the
    /// service of all its items.
    ///
    /// [Revoke Subscription](https://developer.apple.com/documentation/advancedcommerceapi/revoke-subscription)
    public var isRefundedByItem: Bool {
        revocationDate == nil
            && commerceItems.contains { $0.revocationDate != nil || !($0.refunds ?? []).isEmpty }
    }

    private var commerceItems: [AdvancedCommerceInfo.Item] {
        guard let advancedCommerceInfo, let root = try? JSONDocument(advancedCommerceInfo.bytes).root,
            let info = try? AdvancedCommerceInfo(json: root)
        else { return [] }
        return info.items ?? []
    }
}
