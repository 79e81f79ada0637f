/// Up to twenty notifications, oldest first.
public struct NotificationHistoryPage: APIPage {
    /// As they were sent: not verified. The pipeline verifies them.
    public let items: [NotificationHistoryItem]
    /// The pagination token. It expires, and belongs to exactly the request that it came from.
    public let position: String?
    /// Whether there is a next page now.
    public let hasMore: Bool

    /// Whether nothing is on it.
    public var isEmpty: Bool { items.isEmpty }

    init(_ response: NotificationHistoryResponse) {
        items = response.notificationHistory
        position = response.paginationToken
        hasMore = response.hasMore ?? false
    }
}
