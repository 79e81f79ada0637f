import AppStore

/// Reports about purchases outside the App Store: the External Purchase Server API, with the hosts and tokens of this one.
extension AppStoreServerAPI {
    /// Reports one external purchase token, with what was bought by it. Apple documents no limit; 1 request a second here.
    ///
    /// - Throws: `APIError`: a 400 for a report with faults, after which the same one may be sent corrected, and for one that Apple has;
    ///   `.unsettled`, after which ``externalPurchaseReport(_:)`` tells.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/send-external-purchase-report>
    public func sendExternalPurchaseReport(
        _ report: ExternalPurchaseReport
    ) async throws -> ExternalPurchaseReportReceipt {
        try await answer(
            APIRequest(.externalPurchaseReport, .put, ["externalPurchase", "v1", "reports"], body: report))
    }

    /// A report that Apple received.
    ///
    /// - Throws: `APIError` where Apple has none of this identifier.
    ///
    /// <https://developer.apple.com/documentation/externalpurchaseserverapi/retrieve-external-purchase-report>
    public func externalPurchaseReport(_ requestIdentifier: String) async throws -> ExternalPurchaseReport {
        try await answer(
            APIRequest(
                .externalPurchaseReportLookup, .get, ["externalPurchase", "v1", "reports", requestIdentifier]))
    }
}
