import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A test notification that Apple was asked to send.
public struct Canary: Sendable, Hashable {
    /// How it ended.
    public enum Outcome: String, Sendable, Hashable, CaseIterable {
        /// It is in the ledger.
        case arrived
        /// Apple had our 200 and the ledger lacks it.
        case lost
        /// Apple could not deliver it.
        case unreached
        /// Apple did not try in time.
        case unsent
    }

    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app.
    public var bundleId: String
    /// Apple's, for asking what became of it.
    public var token: String
    /// When Apple was asked to send it.
    public var requestedAt: Date
    /// Known once Apple has tried to send it.
    public var notificationUUID: UUID?
    /// Apple's first attempt, by Apple's clock.
    public var attemptedAt: Date?
    /// Apple's word for its last attempt.
    public var attemptResult: String?
    /// When it was recorded in the ledger.
    public var arrivedAt: Date?
    /// How it ended; nil while it is waited for.
    public var outcome: Outcome?

    /// One that was just asked for.
    public init(environment: StoreEnvironment, bundleId: String, token: String, requestedAt: Date) {
        self.environment = environment
        self.bundleId = bundleId
        self.token = token
        self.requestedAt = requestedAt
    }
}
