import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A test notification that the scheduler requested from Apple.
public struct Canary: Sendable, Hashable {
    /// The outcome of a test notification.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// The ledger holds it.
        case arrived
        /// Ingest answered 200 and the ledger lacks it.
        case lost
        /// Apple could not deliver it.
        case unreached
        /// Apple did not try in time.
        case unsent
    }

    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// Apple's `testNotificationToken`, for requesting its status.
    public var token: String
    /// When the scheduler requested it.
    public var requestedAt: Date
    /// The uuid of the notification; nil until Apple has tried to send it.
    public var notificationUUID: UUID?
    /// Apple's first attempt, by Apple's clock; nil until then.
    public var attemptedAt: Date?
    /// Apple's `sendAttemptResult` of the last attempt.
    public var attemptResult: String?
    /// When it was recorded in the ledger.
    public var arrivedAt: Date?
    /// The outcome; nil while it is pending.
    public var outcome: Outcome?

    /// A test notification that was just requested.
    public init(environment: StoreEnvironment, bundleId: String, token: String, requestedAt: Date) {
        self.environment = environment
        self.bundleId = bundleId
        self.token = token
        self.requestedAt = requestedAt
    }
}
