import StrictJSON

import struct Foundation.Date

/// The purchase of the app itself by one customer, as signed by the App Store.
public struct AppTransaction: Payload, Hashable {
    /// Sandbox or production; here Apple calls it the type.
    public var receiptType: AppStoreEnvironment?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// The app.
    public var bundleId: String?
    /// The version for which it was signed.
    public var applicationVersion: String?
    /// Apple's number of that version.
    public var versionExternalIdentifier: Int64?
    /// When this JSON was signed.
    public var receiptCreationDate: Date?
    /// When the customer first got the app.
    public var originalPurchaseDate: Date?
    /// The version that the customer first got.
    public var originalApplicationVersion: String?
    /// Base64 of SHA-384 over device identifier and nonce.
    public var deviceVerification: String?
    /// The nonce, a UUID in text.
    public var deviceVerificationNonce: String?
    /// When it was ordered before its release.
    public var preorderDate: Date?
    /// One per customer and app.
    public var appTransactionId: String?
    /// Where the customer first got it.
    public var originalPlatform: PurchasePlatform?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        receiptType = try fields.read("receiptType")
        appAppleId = try fields.read("appAppleId")
        bundleId = try fields.read("bundleId")
        applicationVersion = try fields.read("applicationVersion")
        versionExternalIdentifier = try fields.read("versionExternalIdentifier")
        receiptCreationDate = try fields.read("receiptCreationDate")
        originalPurchaseDate = try fields.read("originalPurchaseDate")
        originalApplicationVersion = try fields.read("originalApplicationVersion")
        deviceVerification = try fields.read("deviceVerification")
        deviceVerificationNonce = try fields.read("deviceVerificationNonce")
        preorderDate = try fields.read("preorderDate")
        appTransactionId = try fields.read("appTransactionId")
        originalPlatform = try fields.read("originalPlatform")
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("receiptType", receiptType)
        writer.field("appAppleId", appAppleId)
        writer.field("bundleId", bundleId)
        writer.field("applicationVersion", applicationVersion)
        writer.field("versionExternalIdentifier", versionExternalIdentifier)
        writer.field("receiptCreationDate", receiptCreationDate)
        writer.field("originalPurchaseDate", originalPurchaseDate)
        writer.field("originalApplicationVersion", originalApplicationVersion)
        writer.field("deviceVerification", deviceVerification)
        writer.field("deviceVerificationNonce", deviceVerificationNonce)
        writer.field("preorderDate", preorderDate)
        writer.field("appTransactionId", appTransactionId)
        writer.field("originalPlatform", originalPlatform)
        writer.endObject()
    }
}
