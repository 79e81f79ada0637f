import AppStore
import StrictJSON

/// Apple will send a test notification.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/sendtestnotificationresponse>
public struct SendTestNotificationResponse: Payload, Hashable {
    /// Asks what became of it; good for six months.
    public var testNotificationToken: String?

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        testNotificationToken = try fields.read("testNotificationToken")
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("testNotificationToken", testNotificationToken)
        writer.endObject()
    }
}
