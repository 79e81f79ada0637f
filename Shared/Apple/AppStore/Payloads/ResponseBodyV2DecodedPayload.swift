import StrictJSON

import struct Foundation.Date

/// A notification, as signed by the App Store.
///
/// Apple documents exactly one of `data`, `summary`, `externalPurchaseToken`, `appData` and `unclaimInfo`; a notification of a
/// kind to come may hold an object that is not known here, or none.
///
/// <https://developer.apple.com/documentation/appstoreservernotifications/responsebodyv2decodedpayload>
public struct ResponseBodyV2DecodedPayload: Payload, Hashable {
    /// What happened.
    public var notificationType: NotificationType?
    /// Refines the type; nil where the type has no variants.
    public var subtype: NotificationSubtype?
    /// The same in every delivery of this notification.
    public var notificationUUID: String?
    /// About a purchase.
    public var data: NotificationData?
    /// "2.0".
    public var version: String?
    /// When this JSON was signed.
    public var signedDate: Date?
    /// About a mass extension.
    public var summary: NotificationSummary?
    /// About a token.
    public var externalPurchaseToken: ExternalPurchaseToken?
    /// About the app itself.
    public var appData: NotificationAppData?

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        notificationType = try fields.read("notificationType")
        subtype = try fields.read("subtype")
        notificationUUID = try fields.read("notificationUUID")
        data = try fields.read("data")
        version = try fields.read("version")
        signedDate = try fields.read("signedDate")
        summary = try fields.read("summary")
        externalPurchaseToken = try fields.read("externalPurchaseToken")
        appData = try fields.read("appData")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("notificationType", notificationType)
        writer.field("subtype", subtype)
        writer.field("notificationUUID", notificationUUID)
        writer.field("data", data)
        writer.field("version", version)
        writer.field("signedDate", signedDate)
        writer.field("summary", summary)
        writer.field("externalPurchaseToken", externalPurchaseToken)
        writer.field("appData", appData)
    }
}
