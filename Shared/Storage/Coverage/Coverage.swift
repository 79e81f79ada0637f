import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// The progress of one kind of completeness check for one app in one environment.
public struct Coverage: Sendable, Hashable {
    /// The kinds of completeness checks.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple's list of notifications that it could not deliver was fetched.
        case failures
        /// Every notification that Apple lists is in the ledger or rejected; by whole days, UTC.
        case sweep
        /// The heartbeats of ingest were checked for outages.
        case heartbeats
    }

    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// The kind of check.
    public var kind: Kind
    /// The scheduler checks nothing before this time; operators may.
    public var beginsAt: Date
    /// The end of the time for which windows were opened.
    public var plannedUntil: Date
    /// The end of the time for which windows were closed.
    public var completeUntil: Date

    package init(
        environment: StoreEnvironment, bundleId: String, kind: Kind, beginsAt: Date, plannedUntil: Date,
        completeUntil: Date
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.kind = kind
        self.beginsAt = beginsAt
        self.plannedUntil = plannedUntil
        self.completeUntil = completeUntil
    }
}

/// One day of the table `coverage_day`, which auditors read.
public struct CoverageDay: Sendable, Hashable {
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app's bundle identifier.
    public var bundleId: String
    /// The first moment of the day, UTC.
    public var day: Date
    /// The counts of its sweep; zeros until the sweep has closed.
    public var counts: RecoveryWindow.Counts
    /// The window of the latest sweep; its row may be deleted.
    public var window: UUID
    /// When the day was complete: every notification that Apple lists is in the ledger or rejected. Nil until then.
    public var completedAt: Date?
    /// Why the day cannot become complete any more, and what to do; nil where it can.
    public var givenUp: String?
}
