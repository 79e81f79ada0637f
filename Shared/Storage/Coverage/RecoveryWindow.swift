import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A span of Apple's notification history that is fetched, compared with the ledger, and closed when every notification is in
/// the ledger or rejected.
public struct RecoveryWindow: Sendable, Hashable {
    /// The id of the window, in ``HistoryPage/window``.
    public var id: UUID
    /// The notifications that are fetched.
    public var scope: Scope
    /// The actual start of the request: later than the scope's start where Apple no longer lists that time.
    public var start: Date
    /// Why it was opened.
    public var reason: Reason
    /// Higher goes first.
    public var priority: Int
    /// The window that was divided into this one and others; nil where there is none.
    public var partOf: UUID?
    /// Number of subwindows; 0 where the window is fetched itself.
    public var subwindows: Int
    /// The progress of the window.
    public var state: State
    /// Number of pages published to Kafka.
    public var pages: Int
    /// The counts of the listed notifications. Of a divided window zero until it has closed.
    public var counts: Counts
    /// Number of times that it was claimed for fetching.
    public var attempts: Int
    /// The last error, for operators; nil after the next success.
    public var lastError: String?
    /// Since when the window was compared, where Apple no longer listed what is before; nil where all of it was. Of a divided
    /// window nil until it has closed.
    public var comparedFrom: Date?
    /// When it was opened.
    public var createdAt: Date
    /// When its last page was published.
    public var fetchedAt: Date?
    /// When it closed, or failed.
    public var closedAt: Date?
}

extension RecoveryWindow {
    /// The notifications that are fetched: those that Apple first attempted to send within a time.
    public struct Scope: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app's bundle identifier.
        public var bundleId: String
        /// The start, to the millisecond, which is the precision of Apple's API.
        public var from: Date
        /// The end, to the millisecond.
        public var to: Date
        /// Apple's `notificationType`; nil for all types.
        public var notificationType: String?
        /// Apple's `subtype`; nil with a type requests those of the type without a subtype.
        public var subtype: String?
        /// Whether only undelivered notifications are requested.
        public var onlyFailures: Bool

        package init(
            environment: StoreEnvironment, bundleId: String, from: Date, to: Date, notificationType: String? = nil,
            subtype: String? = nil, onlyFailures: Bool = false
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.from = Date(milliseconds: from.milliseconds)
            self.to = Date(milliseconds: to.milliseconds)
            self.notificationType = notificationType
            self.subtype = subtype
            self.onlyFailures = onlyFailures
        }
    }

    /// Why a window was opened.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The regular check for notifications that Apple could not deliver.
        case failures
        /// The check of a whole day.
        case sweep
        /// Ingest sent no heartbeats, or answered 500 or above.
        case outage
        /// A test notification did not arrive.
        case canary
        /// An operator opened it.
        case manual
    }

    /// The progress of a window.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// Waiting to be fetched, or being fetched.
        case open
        /// All of its pages are published to Kafka.
        case fetched
        /// Every listed notification is in the ledger or rejected.
        case closed
        /// It cannot be fetched; ``RecoveryWindow/lastError`` says why and what to do.
        case failed
    }

    /// Counts of the listed notifications, each counted once.
    public struct Counts: Sendable, Hashable {
        /// Present, missing and unreadable.
        public var listed: Int64
        /// Number that the ledger held already.
        public var present: Int64
        /// Number that the ledger lacked when they were compared.
        public var missing: Int64
        /// Number of missing ones that reached the ledger.
        public var recovered: Int64
        /// Number of missing ones that the pipeline rejected.
        public var rejected: Int64
        /// Number without a readable uuid.
        public var unreadable: Int64

        package init(
            listed: Int64 = 0, present: Int64 = 0, missing: Int64 = 0, recovered: Int64 = 0, rejected: Int64 = 0,
            unreadable: Int64 = 0
        ) {
            self.listed = listed
            self.present = present
            self.missing = missing
            self.recovered = recovered
            self.rejected = rejected
            self.unreadable = unreadable
        }

        /// Number that is neither in the ledger nor rejected.
        public var stillMissing: Int64 { missing - recovered - rejected }
    }

    /// A window to be opened.
    public struct Request: Sendable, Hashable {
        /// The id of the window.
        public var id: UUID
        /// The notifications to fetch.
        public var scope: Scope
        /// Why it is opened.
        public var reason: Reason
        /// Higher goes first.
        public var priority: Int

        /// - Parameter priority: nil means the default of the reason.
        package init(id: UUID, scope: Scope, reason: Reason, priority: Int? = nil) {
            self.id = id
            self.scope = scope
            self.reason = reason
            self.priority = priority ?? reason.priority
        }
    }
}

extension RecoveryWindow.Reason {
    /// The default priority: an operator waits for `manual`, `outage` and `canary` are known problems, the others regular
    /// checks.
    public var priority: Int {
        switch self {
        case .manual: 100
        case .outage: 80
        case .canary: 70
        case .failures: 60
        case .sweep: 20
        }
    }
}
