import struct Foundation.Date
import struct Foundation.UUID

/// How old a piece of event is, by Apple's clock. The arrival and the log position of a notification say nothing of
/// that.
///
/// Two pieces signed in the same millisecond are ordered by uuid: arbitrary, but the same everywhere.
public struct EventVersion: Sendable, Hashable, Comparable {
    /// When Apple signed it.
    public var signedDate: Date
    /// Apple's id of the notification; the same in every repetition.
    public var notificationUUID: UUID

    /// All fields.
    public init(signedDate: Date, notificationUUID: UUID) {
        self.signedDate = signedDate
        self.notificationUUID = notificationUUID
    }

    /// By date, then by uuid.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
        return left.notificationUUID.uuidString < right.notificationUUID.uuidString
    }
}
