import struct Foundation.Date

/// The status of a subscription as Apple's API answered it.
///
/// It is not signed. It is believed because a process of ours asked Apple itself, over TLS, and put it on the record; see
/// ``ReceivedNotification/status`` for who can.
/// <https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses>
public struct AnsweredStatus: Sendable, Hashable {
    /// Apple's raw value: 1 active … 5 revoked.
    public var status: Int64
    /// When it was so: when the question was put, or later if Apple signed a part of its answer later. Millisecond precision.
    public var date: Date

    /// - Parameter signedDates: of the parts in the answer.
    public init(status: Int64, askedAt: Date, signedDates: [Date?] = []) {
        self.status = status
        date = Date(milliseconds: signedDates.compactMap(\.self).reduce(askedAt, max).milliseconds)
    }
}
