import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// A stretch of Apple's notification history that is fetched, compared with the ledger, and closed when all of it is
/// accounted for.
public struct RecoveryWindow: Sendable, Hashable {
    /// Names it in ``HistoryPage/window``.
    public var id: UUID
    /// What Apple is asked for.
    public var scope: Scope
    /// From where Apple is asked in truth: later than the scope's beginning where Apple no longer lists that.
    public var start: Date
    /// Why it was opened.
    public var reason: Reason
    /// Higher goes first.
    public var priority: Int
    /// The window this is a part of.
    public var partOf: UUID?
    /// Into how many it was divided; 0 is fetched itself.
    public var parts: Int
    /// How far it is.
    public var state: State
    /// Pages that are on the log.
    public var pages: Int
    /// What became of what Apple listed. Of a divided window only once it has closed.
    public var counts: Counts
    /// How often it was claimed for fetching.
    public var attempts: Int
    /// What stood in the way last, for people; nil once it went on.
    public var lastError: String?
    /// When it was opened.
    public var createdAt: Date
    /// When its last page was on the log.
    public var fetchedAt: Date?
    /// When it closed, or failed.
    public var closedAt: Date?
}

extension RecoveryWindow {
    /// What Apple is asked for: the notifications first attempted within a time.
    public struct Scope: Sendable, Hashable {
        /// Production or Sandbox.
        public var environment: StoreEnvironment
        /// The app.
        public var bundleId: String
        /// From this time on. Kept to the millisecond, which is what Apple is asked with.
        public var from: Date
        /// Up to this time.
        public var to: Date
        /// Apple's word; nil for all types.
        public var notificationType: String?
        /// Apple's word; nil with a type asks for those of it that have none.
        public var subtype: String?
        /// Whether only what Apple has not delivered is listed.
        public var onlyFailures: Bool

        /// All fields.
        public init(
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
        /// The regular question for what Apple could not deliver.
        case failures
        /// The proof of a whole day.
        case sweep
        /// Ingest was silent or refused.
        case outage
        /// A test notification did not arrive.
        case canary
        /// An operator asked.
        case manual
    }

    /// How far a window is.
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// To be fetched, or being fetched.
        case open
        /// All of its pages are on the log.
        case fetched
        /// All that was listed is in the ledger or refused by name.
        case closed
        /// Apple will not tell; ``RecoveryWindow/lastError`` says why and what helps.
        case failed
    }

    /// What became of the notifications Apple listed, each counted once.
    public struct Counts: Sendable, Hashable {
        /// Present, missing and unreadable.
        public var listed: Int64
        /// The ledger had them.
        public var present: Int64
        /// The ledger lacked them when it was looked.
        public var missing: Int64
        /// Of the missing: in the ledger now.
        public var recovered: Int64
        /// Of the missing: put aside by the line, with a reason.
        public var refused: Int64
        /// Without a uuid one could look for.
        public var unreadable: Int64

        /// All fields.
        public init(
            listed: Int64 = 0, present: Int64 = 0, missing: Int64 = 0, recovered: Int64 = 0, refused: Int64 = 0,
            unreadable: Int64 = 0
        ) {
            self.listed = listed
            self.present = present
            self.missing = missing
            self.recovered = recovered
            self.refused = refused
            self.unreadable = unreadable
        }

        /// Neither in the ledger nor refused.
        public var stillMissing: Int64 { missing - recovered - refused }
    }

    /// A window to be opened.
    public struct Request: Sendable, Hashable {
        /// Names the window.
        public var id: UUID
        /// What Apple is asked for.
        public var scope: Scope
        /// Why.
        public var reason: Reason
        /// Higher goes first.
        public var priority: Int

        /// All fields.
        /// - Parameter priority: nil takes what is usual for the reason.
        public init(id: UUID, scope: Scope, reason: Reason, priority: Int? = nil) {
            self.id = id
            self.scope = scope
            self.reason = reason
            self.priority = priority ?? reason.priority
        }
    }
}

extension RecoveryWindow.Reason {
    /// Somebody waits for it; something is known to be wrong; routine.
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
