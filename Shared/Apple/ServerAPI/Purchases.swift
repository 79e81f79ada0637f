import AppStore
import struct Foundation.UUID

/// What we tell Apple about a purchase.
extension AppStoreServerAPI {
    /// How far a purchase was used, for Apple to decide on a refund. 50 requests a second. Within twelve hours after the
    /// notification that asks for it.
    ///
    /// - Throws: `APIError` with `invalidCustomerConsented` unless the customer consented.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information>
    public func sendConsumptionInformation(_ transactionId: String, _ request: ConsumptionRequest) async throws {
        try await sendConsumptionInformation(transactionId, body: request.json, version: 2)
    }

    /// Sends a body that was made before, byte for byte. Version 1 of the endpoint takes answers about purchases by Advanced
    /// Commerce, which version 2 rejects.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/send-consumption-information-v1>
    public func sendConsumptionInformation(_ transactionId: String, body: [UInt8], version: Int) async throws {
        try await perform(
            APIRequest(
                .consumption, .put, ["inApps", "v\(version)", "transactions", "consumption", transactionId], bytes: body
            ))
    }

    /// Sets the account of the app for a purchase and all its later renewals. 20 requests per second.
    ///
    /// - Throws: `APIError` with `transactionIdNotOriginalTransactionId`, or `familyTransactionNotSupported`.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token>
    public func setAppAccountToken(of originalTransactionId: String, _ token: UUID) async throws {
        var request = UpdateAppAccountTokenRequest()
        request.appAccountToken = token.uuidString.lowercased()
        try await perform(
            APIRequest(
                .setAppAccountToken, .put,
                ["inApps", "v1", "transactions", originalTransactionId, "appAccountToken"], body: request))
    }

    /// Says that what was bought has been delivered, in the place of the app. 50 requests a second.
    ///
    /// <https://developer.apple.com/documentation/appstoreserverapi/finish-transaction>
    public func finishTransaction(_ transactionId: String) async throws {
        try await perform(
            APIRequest(.finishTransaction, .post, ["inApps", "v1", "transactions", transactionId, "finish"]))
    }
}
