import struct Foundation.Date
import struct Foundation.UUID

/// A window that one process fetches, until its lease ends.
public struct WindowClaim: Sendable, Hashable {
    /// The id of the window.
    public var id: UUID
    /// The process that fetches it.
    public var holder: UUID
    /// The notifications to fetch; the request begins at ``start``.
    public var scope: RecoveryWindow.Scope
    /// Why the window was opened.
    public var reason: RecoveryWindow.Reason
    /// Higher goes first.
    public var priority: Int
    /// The window that was divided into this one and others; nil where there is none.
    public var partOf: UUID?
    /// The start of the request: later than the scope's start where Apple no longer lists that time, or after a restart.
    public var start: Date
    /// Apple's `paginationToken` of the next page; nil for the first page.
    public var pageToken: String?
    /// The number of the next page.
    public var page: Int64
    /// First attempt of the last notification of the last page.
    public var reachedAt: Date?
    /// Number of consecutive failures.
    public var failures: Int
    /// Number of restarts because Apple's token had expired.
    public var restarts: Int
}

/// A page that was published to Kafka.
public struct FetchedPage: Sendable, Hashable {
    /// Number of messages of the page; 0 where Apple listed nothing.
    public var messages: Int
    /// Number of notifications on the page.
    public var items: Int
    /// Apple's first attempt to send its last notification.
    public var reachedAt: Date?
    /// Apple's `paginationToken` of the next page; nil after the last one.
    public var nextToken: String?

    package init(messages: Int, items: Int, reachedAt: Date?, nextToken: String?) {
        self.messages = messages
        self.items = items
        self.reachedAt = reachedAt
        self.nextToken = nextToken
    }
}
