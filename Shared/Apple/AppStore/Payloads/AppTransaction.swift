import StrictJSON

import struct Foundation.Date

/// The purchase of the app itself by one customer, as signed by the App Store.
///
/// <https://developer.apple.com/documentation/storekit/apptransaction>
public struct AppTransaction: Payload, Hashable {
    /// Sandbox or production; here Apple calls it the type.
    public var receiptType: AppStoreEnvironment?
    /// Apple's number of the app; not in sandbox.
    public var appAppleId: Int64?
    /// Bundle identifier of the app.
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
    /// What it was read from, as far as this build cannot make use of it. Not written.
    public internal(set) var oddities: [PayloadOddity] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field that decides something has another kind of value than Apple documents;
    ///   the others are nil then, see ``oddities``.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        receiptType = try fields.read("receiptType")
        appAppleId = try fields.read("appAppleId")
        bundleId = try fields.read("bundleId")
        applicationVersion = fields.attempt("applicationVersion")
        versionExternalIdentifier = fields.attempt("versionExternalIdentifier")
        receiptCreationDate = try fields.read("receiptCreationDate")
        originalPurchaseDate = try fields.read("originalPurchaseDate")
        originalApplicationVersion = fields.attempt("originalApplicationVersion")
        deviceVerification = fields.attempt("deviceVerification")
        deviceVerificationNonce = fields.attempt("deviceVerificationNonce")
        preorderDate = try fields.read("preorderDate")
        appTransactionId = try fields.read("appTransactionId")
        originalPlatform = fields.attempt("originalPlatform")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
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
    }
}
