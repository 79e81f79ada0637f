import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// How far one kind of proof has come for one app in one environment.
public struct Coverage: Sendable, Hashable {
    /// What is proven how.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Apple was asked for what it could not deliver.
        case failures
        /// Every notification that Apple lists is in the ledger, or refused by name; by whole days, UTC.
        case sweep
        /// The minutes of ingest were looked through for outages.
        case heartbeats
    }

    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app.
    public var bundleId: String
    /// What is proven how.
    public var kind: Kind
    /// Nothing before it is asked for unasked.
    public var beginsAt: Date
    /// Windows were opened up to here.
    public var plannedUntil: Date
    /// And closed up to here.
    public var provenUntil: Date

    /// All fields.
    public init(
        environment: StoreEnvironment, bundleId: String, kind: Kind, beginsAt: Date, plannedUntil: Date,
        provenUntil: Date
    ) {
        self.environment = environment
        self.bundleId = bundleId
        self.kind = kind
        self.beginsAt = beginsAt
        self.plannedUntil = plannedUntil
        self.provenUntil = provenUntil
    }
}

/// One day of the auditor's table.
public struct CoverageDay: Sendable, Hashable {
    /// Production or Sandbox.
    public var environment: StoreEnvironment
    /// The app.
    public var bundleId: String
    /// The first moment of the day, UTC.
    public var day: Date
    /// What its sweep found; zeros until that has closed.
    public var counts: RecoveryWindow.Counts
    /// The latest sweep. Its window may be forgotten.
    public var window: UUID
    /// When that was opened.
    public var plannedAt: Date
    /// Since when everything Apple lists of the day is in the ledger or refused by name.
    public var provenAt: Date?
    /// Why it cannot be proven any more, and what helps.
    public var givenUp: String?
}
