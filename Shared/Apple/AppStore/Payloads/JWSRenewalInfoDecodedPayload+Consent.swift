import StrictJSON

extension JWSRenewalInfoDecodedPayload {
    /// The customer's answer to a price increase. Of Advanced Commerce each item has its own: the whole is unanswered while one of them is,
    /// and accepted once one was. Nil where Apple has not asked, as while every increase is `SCHEDULED`.
    ///
    /// [advancedCommercePriceIncreaseInfo](https://developer.apple.com/documentation/appstoreserverapi/advancedcommercepriceincreaseinfo)
    public var priceConsent: PriceIncreaseStatus? {
        if let priceIncreaseStatus { return priceIncreaseStatus }
        guard let advancedCommerceInfo, let root = try? JSONDocument(advancedCommerceInfo.bytes).root,
            let info = try? AdvancedCommerceInfo(json: root)
        else { return nil }
        let statuses = (info.items ?? []).compactMap(\.priceIncreaseInfo?.status)
        if statuses.contains("PENDING") { return .unanswered }
        return statuses.contains("ACCEPTED") ? .accepted : nil
    }
}
