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
    public init(json: JSONValue) throws(PayloadFault) {
        let fields = try PayloadFields(json)
        paginationToken = try fields.read("paginationToken")
        hasMore = try fields.read("hasMore")
        notificationHistory = try fields.read("notificationHistory") ?? []
    }

    /// Writes Apple's members; what is nil is left out.
    public func writeMembers(to writer: inout JSONWriter) {
        writer.field("paginationToken", paginationToken)
        writer.field("hasMore", hasMore)
        writer.field("notificationHistory", notificationHistory)
    }
}
