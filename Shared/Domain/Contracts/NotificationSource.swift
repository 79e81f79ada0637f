/// How a notification was received.
public enum NotificationSource: String, Sendable, Hashable, CaseIterable {
    /// Apple posted it.
    case webhook
    /// Recovery found it in Apple's notification history.
    case history
    /// An operator replayed it.
    case replay
    /// The app uploaded it.
    case upload

    /// Whether it is passed on although it was seen before. What recovery or an operator sends again was lost after the
    /// deduplicator once; were it dropped as a repeat, the loss could never be repaired.
    public var isRedelivery: Bool { self == .history || self == .replay }

    /// Whether only processes of this deployment that asked Apple, or an operator, write such records.
    var isAnsweredByApple: Bool { self == .history || self == .replay }
}
