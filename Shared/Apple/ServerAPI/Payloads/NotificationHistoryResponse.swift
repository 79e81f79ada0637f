import AppStore
import StrictJSON

/// One page of notifications, oldest first.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse>
public struct NotificationHistoryResponse: Payload, Hashable {
    /// Asks for the next page; it expires.
    public var paginationToken: String?
    /// Whether there is a next page.
    public var hasMore: Bool?
    /// At most 20.
    public var notificationHistory: [NotificationHistoryItem] = []

    /// Nothing set.
    public init() {}

    /// Reads Apple's JSON; fields without a value here are passed over.
    ///
    /// - Throws: `PayloadFault` where a field has another kind of value than Apple documents.
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        paginationToken = try fields.read("paginationToken")
        hasMore = try fields.read("hasMore")
        notificationHistory = try fields.read("notificationHistory") ?? []
    }

    /// Writes Apple's JSON; what is nil is left out.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.field("paginationToken", paginationToken)
        writer.field("hasMore", hasMore)
        writer.field("notificationHistory", notificationHistory)
        writer.endObject()
    }
}
