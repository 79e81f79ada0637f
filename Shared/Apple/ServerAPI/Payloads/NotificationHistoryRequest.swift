import AppStore
import StrictJSON

import struct Foundation.Date

/// Which notifications to list.
///
/// By type or by transaction, not both; a subtype only with its type. A type without a subtype lists only those without one:
/// `DID_RENEW` does not list `DID_RENEW` with `BILLING_RECOVERY`, so ask for each pair.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryrequest>
public struct NotificationHistoryRequest: Payload, Hashable {
    /// From when on Apple first tried to send them. At most 180 days ago in production, 30 in sandbox.
    public var startDate: Date?
    /// Until when; a time in the future means now.
    public var endDate: Date?
    /// Only these.
    public var notificationType: NotificationType?
    /// Only these of that type.
    public var notificationSubtype: NotificationSubtype?
    /// Only those about the customer of this transaction.
    public var transactionId: String?
    /// Only those that Apple has not delivered yet; nil lists all.
    public var onlyFailures: Bool?

    /// Both dates are required by Apple.
    public init(
        startDate: Date? = nil, endDate: Date? = nil, notificationType: NotificationType? = nil,
        notificationSubtype: NotificationSubtype? = nil, transactionId: String? = nil, onlyFailures: Bool? = nil
    ) {
        self.startDate = startDate
        self.endDate = endDate
        self.notificationType = notificationType
        self.notificationSubtype = notificationSubtype
        self.transactionId = transactionId
        self.onlyFailures = onlyFailures
    }

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        startDate = try fields.read("startDate")
        endDate = try fields.read("endDate")
        notificationType = try fields.read("notificationType")
        notificationSubtype = try fields.read("notificationSubtype")
        transactionId = try fields.read("transactionId")
        onlyFailures = try fields.read("onlyFailures")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("startDate", startDate)
        writer.field("endDate", endDate)
        writer.field("notificationType", notificationType)
        writer.field("notificationSubtype", notificationSubtype)
        writer.field("transactionId", transactionId)
        writer.field("onlyFailures", onlyFailures)
    }
}
