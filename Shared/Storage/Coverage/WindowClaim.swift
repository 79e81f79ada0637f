import struct Foundation.Date
import struct Foundation.UUID

/// A window that one process fetches, until its lease ends.
public struct WindowClaim: Sendable, Hashable {
    /// The window.
    public var id: UUID
    /// Who fetches.
    public var holder: UUID
    /// What Apple is asked for; what is asked in truth begins at ``start``.
    public var scope: RecoveryWindow.Scope
    /// Why the window was opened.
    public var reason: RecoveryWindow.Reason
    /// Higher goes first.
    public var priority: Int
    /// The window this is a part of.
    public var partOf: UUID?
    /// From where Apple is asked: later than the scope's beginning after a clip or a restart.
    public var start: Date
    /// Apple's, from which to go on; nil at the beginning.
    public var pageToken: String?
    /// The number of the next page.
    public var page: Int64
    /// First attempt of the last notification of the last page.
    public var reachedAt: Date?
    /// How often in a row something stood in the way.
    public var setbacks: Int
    /// How often it began anew because Apple's token had expired.
    public var restarts: Int
}

/// A page that is on the log.
public struct FetchedPage: Sendable, Hashable {
    /// Into how many messages it was divided; 0 where Apple listed nothing.
    public var parts: Int
    /// How many notifications it lists.
    public var items: Int
    /// First attempt of its last notification.
    public var reachedAt: Date?
    /// Apple's, for the next page; nil after the last one.
    public var nextToken: String?

    /// All fields.
    public init(parts: Int, items: Int, reachedAt: Date?, nextToken: String?) {
        self.parts = parts
        self.items = items
        self.reachedAt = reachedAt
        self.nextToken = nextToken
    }
}
