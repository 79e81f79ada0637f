import StrictJSON

import struct Foundation.Date

/// A token for purchases outside the App Store that needs a report.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/externalpurchasetoken>
public struct ExternalPurchaseToken: Payload, Hashable {
    /// The token; begins with `SANDBOX` in sandbox.
    public var externalPurchaseId: String?
    /// When it was made.
    public var tokenCreationDate: Date?
    /// Apple's number of the app.
    public var appAppleId: Int64?
    /// Bundle identifier of the app.
    public var bundleId: String?
    /// What kind of token.
    public var tokenType: String?
    /// Until when it can be reported on.
    public var tokenExpirationDate: Date?
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
        externalPurchaseId = try fields.read("externalPurchaseId")
        tokenCreationDate = try fields.read("tokenCreationDate")
        appAppleId = try fields.read("appAppleId")
        bundleId = try fields.read("bundleId")
        tokenType = fields.attempt("tokenType")
        tokenExpirationDate = try fields.read("tokenExpirationDate")
        oddities = fields.oddities
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("externalPurchaseId", externalPurchaseId)
        writer.field("tokenCreationDate", tokenCreationDate)
        writer.field("appAppleId", appAppleId)
        writer.field("bundleId", bundleId)
        writer.field("tokenType", tokenType)
        writer.field("tokenExpirationDate", tokenExpirationDate)
    }
}

extension ExternalPurchaseToken {
    /// The payload names no environment; the token tells.
    public var environment: AppStoreEnvironment {
        externalPurchaseId?.hasPrefix("SANDBOX") == true ? .sandbox : .production
    }
}
