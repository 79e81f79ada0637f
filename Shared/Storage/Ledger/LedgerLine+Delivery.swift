import Contracts

import typealias Foundation.TimeInterval

extension LedgerLine {
    /// How long after Apple signed it a notification that Apple posted itself was received, in seconds; nil for those from another source.
    public var deliverySeconds: TimeInterval? {
        guard source == NotificationSource.webhook.rawValue, let signedDate else { return nil }
        return max(0, receivedAt.timeIntervalSince(signedDate))
    }

    /// Whether an earlier attempt of Apple's must have failed. Apple posts within seconds, and repeats after an hour at the earliest.
    public var isLate: Bool { deliverySeconds.map { $0 >= Self.lateness } ?? false }

    /// Ten minutes, in seconds.
    public static let lateness: TimeInterval = 600
}
