/// How a notification came to us.
public enum NotificationSource: String, Sendable, Hashable, CaseIterable {
    /// Apple posted it.
    case webhook
    /// Recovery found it in Apple's notification history.
    case history
    /// An operator put it back.
    case replay
    /// The app uploaded it.
    case upload

    /// Whether a sighting of it replaces an earlier one. What recovery or an operator puts back was lost behind the
    /// deduplicator once; were it refused as a repeat, the loss could never be repaired.
    public var isRedelivery: Bool { self == .history || self == .replay }

    /// Whether only processes of ours that asked Apple, or an operator, make such records.
    var isAnsweredByApple: Bool { self == .history || self == .replay }
}
