import AppStore

/// Up to twenty notifications, oldest first.
///
/// <https://developer.apple.com/documentation/appstoreserverapi/notificationhistoryresponse>
public struct NotificationHistoryPage: APIPage {
    /// As they were sent: not verified. The pipeline verifies them.
    public let items: [NotificationHistoryItem]
    /// The pagination token. It expires, and belongs to exactly the request that it came from.
    public let position: String?
    /// Whether there is a next page now.
    public let hasMore: Bool

    /// Whether it has no items.
    public var isEmpty: Bool { items.isEmpty }

    init(_ response: NotificationHistoryResponse) {
        items = response.notificationHistory
        position = response.paginationToken
        hasMore = response.hasMore ?? false
    }
}
