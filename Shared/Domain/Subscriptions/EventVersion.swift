import struct Foundation.Date
import struct Foundation.UUID

/// The age of an event by Apple's clock. Arrival time and Kafka offset of a notification say nothing about its age.
///
/// Two events signed in the same millisecond are ordered by uuid: arbitrary, but the same in every process.
public struct EventVersion: Sendable, Hashable, Comparable {
    /// When Apple signed it.
    public var signedDate: Date
    /// Apple's id of the notification; the same in every delivery of it.
    public var notificationUUID: UUID

    package init(signedDate: Date, notificationUUID: UUID) {
        self.signedDate = signedDate
        self.notificationUUID = notificationUUID
    }

    /// Orders by date, then by uuid.
    public static func < (left: Self, right: Self) -> Bool {
        guard left.signedDate == right.signedDate else { return left.signedDate < right.signedDate }
        return left.notificationUUID.uuidString < right.notificationUUID.uuidString
    }
}
