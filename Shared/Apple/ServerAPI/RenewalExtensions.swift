import AppStore

/// More days for subscribers. The only calls that must not be sent twice: without a clear answer they end as `unsettled`.
extension AppStoreServerAPI {
    /// Gives one subscriber more days. 20 requests a second.
    ///
    /// - Throws: `APIError` with `subscriptionExtensionIneligible`, `subscriptionMaxExtension` (twice within 365 days) or
    ///   `familySharedSubscriptionExtensionIneligible`; `.unsettled`.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/extend-a-subscription-renewal-date>
    public func extendRenewalDate(
        of originalTransactionId: String, _ request: ExtendRenewalDateRequest
    ) async throws -> ExtendRenewalDateResponse {
        try await answer(
            APIRequest(
                .extendRenewalDate, .put, ["inApps", "v1", "subscriptions", "extend", originalTransactionId],
                body: request))
    }

    /// Gives all active subscribers of a product more days. 1 request a second; done in hours or days.
    ///
    /// - Throws: `APIError`; `.unsettled`, after which the status of the request identifier tells.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/extend-subscription-renewal-dates-for-all-active-subscribers>
    public func extendRenewalDates(
        _ request: MassExtendRenewalDateRequest
    ) async throws -> MassExtendRenewalDateResponse {
        try await answer(
            APIRequest(.massExtension, .post, ["inApps", "v1", "subscriptions", "extend", "mass"], body: request))
    }

    /// How far a mass extension is. 1 request a second.
    ///
    /// - Throws: `APIError` with `statusRequestNotFound`.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/get-status-of-subscription-renewal-date-extensions>
    public func massExtensionStatus(
        productId: String, requestIdentifier: String
    ) async throws -> MassExtendRenewalDateStatusResponse {
        try await answer(
            APIRequest(
                .massExtensionStatus, .get,
                ["inApps", "v1", "subscriptions", "extend", "mass", productId, requestIdentifier]))
    }
}
