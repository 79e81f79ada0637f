import AppStore
import StrictJSON

/// Apple will send a test notification.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse>
public struct SendTestNotificationResponse: Payload, Hashable {
    /// Asks what became of it; good for six months.
    public var testNotificationToken: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        testNotificationToken = try fields.read("testNotificationToken")
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("testNotificationToken", testNotificationToken)
    }
}
