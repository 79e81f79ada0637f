import struct Foundation.Date
import struct Foundation.UUID

/// How old a piece of news is, by Apple's clock. The arrival and the log position of a notification say nothing of that.
///
/// Two pieces signed in the same millisecond are ordered by uuid: arbitrary, but the same everywhere.
public struct Stamp: Sendable, Hashable, Comparable {
    public var signedDate: Date
    public var notificationUUID: UUID

    public init(signedDate: Date, notificationUUID: UUID) {
        self.signedDate = signedDate
        self.notificationUUID = notificationUUID
    }

    public static func < (left: Self, right: Self) -> Bool {
        guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
        return left.notificationUUID.uuidString < right.notificationUUID.uuidString
    }
}
