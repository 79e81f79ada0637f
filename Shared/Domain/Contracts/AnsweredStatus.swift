import struct Foundation.Date

/// The status of a subscription as Apple's API answered it.
///
/// It is not signed. It is trusted because a process of this deployment asked Apple itself, over TLS, and wrote it; see
/// ``ReceivedNotification/status`` for the sources that may have one.
/// <https://developer.apple.com/documentation/appstoreserverapi/get-all-subscription-statuses>
public struct AnsweredStatus: Sendable, Hashable {
    /// Apple's raw value: 1 active … 5 revoked.
    public var status: Int64
    /// When it applied: when the request was made, or later if Apple signed a part of its answer later. Millisecond precision.
    public var date: Date

    /// - Parameters:
    ///   - askedAt: by a clock that is not ahead of Apple's.
    ///   - signedDates: of the signed objects in the answer, which Apple may have signed before.
    public init(status: Int64, askedAt: Date, signedDates: [Date?] = []) {
        self.status = status
        date = Date(milliseconds: signedDates.compactMap(\.self).reduce(askedAt, max).milliseconds)
    }
}
