import Contracts

import struct Foundation.Date
import struct Foundation.UUID

/// Why an entitlement of a customer was not the same here and in the system that an app moves from.
package enum ComparisonCause: String, Sendable, Hashable, CaseIterable {
    /// One side gives access in Apple's grace period, the other does not, or until another moment.
    case gracePeriod
    /// The charge failed, and the other system still gives access while Apple tries again.
    case billingRetry
    case familySharing
    /// Access that no purchase of the environment gives: by hand, or for the purchase of the app itself.
    case grantByHand
    case refundInFull
    case refundProrated
    /// The refund was taken back, which one side does not know.
    case refundReversed
    /// Another product took the place of the one that gives it.
    case upgrade
    /// Another customer may use the purchase.
    case otherOwner
    /// Apple signs no end of a non-renewing product, and both sides have another duration.
    case nonRenewingDuration
    case endWithinFiveMinutes
    /// A purchase of another store gives it.
    case otherStore
    /// A purchase in the sandbox gives it.
    case sandbox
    /// Apple does not have the purchase of the file.
    case unknownToApple
    case unexplained
}

/// A comparison of one file with the access here, at the moment of the file.
package struct Comparison: Sendable, Equatable {
    /// The numbers of a comparison.
    package struct Counts: Sendable, Equatable, Codable {
        /// Records of the file, without those that cannot be used.
        package var records = 0
        /// Lines that cannot be used.
        package var invalid = 0
        /// Records that are left out, by reason.
        package var skipped: [String: Int] = [:]
        /// Customers of the file.
        package var customers = 0
        /// Customers with access here whom the file does not name.
        package var notInFile = 0
        /// Customers with access at the moment: here, and in the other system.
        package var withAccessHere = 0
        package var withAccessThere = 0
        /// Entitlements with access on a side, and those of them that are the same.
        package var entitlements = 0
        package var equal = 0
        /// Differences by cause, the raw value of ``ComparisonCause``.
        package var causes: [String: Int] = [:]

        package init() {}

        package var unexplained: Int { causes[ComparisonCause.unexplained.rawValue] ?? 0 }

        /// Adds the counts of other customers.
        package mutating func add(_ other: Counts) {
            records += other.records
            invalid += other.invalid
            skipped.merge(other.skipped, uniquingKeysWith: +)
            customers += other.customers
            notInFile += other.notInFile
            withAccessHere += other.withAccessHere
            withAccessThere += other.withAccessThere
            entitlements += other.entitlements
            equal += other.equal
            causes.merge(other.causes, uniquingKeysWith: +)
        }
    }

    package var id: UUID
    package var environment: StoreEnvironment
    package var bundleId: String
    /// The kind of file, such as `revenueCat`.
    package var source: String
    /// The moment of the file.
    package var takenAt: Date
    package var startedAt: Date
    /// Nil while it runs, and where it was interrupted.
    package var finishedAt: Date?
    package var counts = Counts()

    package init(
        id: UUID, environment: StoreEnvironment, bundleId: String, source: String, takenAt: Date, startedAt: Date
    ) {
        self.id = id
        self.environment = environment
        self.bundleId = bundleId
        self.source = source
        self.takenAt = takenAt
        self.startedAt = startedAt
    }
}

/// An entitlement of a customer that was not the same on both sides.
package struct ComparisonDifference: Sendable, Equatable {
    /// The access on one side.
    package struct Side: Sendable, Equatable {
        package var hasAccess: Bool
        /// The end of the access; nil where it has none.
        package var until: Date?

        package init(hasAccess: Bool, until: Date?) {
            self.hasAccess = hasAccess
            self.until = until
        }
    }

    /// The id of the row; 0 before it is stored.
    package var id: Int64 = 0
    /// The developer's own id; the token of an account without one.
    package var customerId: String
    /// Nil where no account here has one of the customer's ids, and none of them is a token. An erasure of the account deletes the
    /// difference, also where the file has another id of the customer.
    package var account: UUID?
    package var entitlement: String
    package var ours: Side
    package var others: Side
    package var cause: ComparisonCause
    /// The reason of the access here, a raw value of `AccessPeriod.Reason`; nil where there is none.
    package var reason: String?
    /// The purchase that is concerned; nil where none of the App Store is.
    package var purchase: String?
    /// The notification that decided; nil where none did.
    package var notificationUUID: UUID?
    /// The line of the file; nil where the file does not name the customer.
    package var line: Int?

    package init(
        customerId: String, account: UUID?, entitlement: String, ours: Side, others: Side, cause: ComparisonCause,
        reason: String? = nil, purchase: String? = nil, notificationUUID: UUID? = nil, line: Int? = nil
    ) {
        self.customerId = customerId
        self.account = account
        self.entitlement = entitlement
        self.ours = ours
        self.others = others
        self.cause = cause
        self.reason = reason
        self.purchase = purchase
        self.notificationUUID = notificationUUID
        self.line = line
    }
}
