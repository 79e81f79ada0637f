import Contracts
import Subscriptions

import struct Foundation.Date
import struct Foundation.UUID

extension AccountAppStore {
    /// The stored fields of one app transaction.
    package struct AccountApp: Sendable, Equatable {
        package var environment: StoreEnvironment
        package var bundleId: String
        package var appAccountToken: UUID
        /// Apple's id of the customer within the app; a digest of what never changes in it where an old copy has none.
        package var identity: String
        package var evidence: ClaimEvidence
        package var originalApplicationVersion: String
        package var originalPurchaseDate: Date?
        /// When the customer ordered the app ahead; nil where that was not so.
        package var preorderDate: Date?
        /// When it was first uploaded with that evidence.
        package var recordedAt: Date

        package init(
            environment: StoreEnvironment, bundleId: String, appAccountToken: UUID, identity: String,
            evidence: ClaimEvidence, originalApplicationVersion: String, originalPurchaseDate: Date?,
            preorderDate: Date? = nil, recordedAt: Date
        ) {
            self.environment = environment
            self.bundleId = bundleId
            self.appAccountToken = appAccountToken
            self.identity = identity
            self.evidence = evidence
            self.originalApplicationVersion = originalApplicationVersion
            self.originalPurchaseDate = originalPurchaseDate
            self.preorderDate = preorderDate
            self.recordedAt = recordedAt
        }

        var upload: AppTransactionUploads.Upload {
            AppTransactionUploads.Upload(
                identity: identity, appAccountToken: appAccountToken, evidence: evidence, recordedAt: recordedAt,
                originalApplicationVersion: originalApplicationVersion, originalPurchaseDate: originalPurchaseDate)
        }
    }

    /// A customer's first purchase of an app as Apple signed it, uploaded for an account.
    package struct FirstPurchase: Sendable, Equatable {
        package var bundleId: String
        package var originalApplicationVersion: String
        package var originalPurchaseDate: Date?
        /// When the customer ordered the app ahead; nil where that was not so.
        package var preorderDate: Date?
        /// Whether the account may use what the app's purchase gives.
        package var isEntitled: Bool
    }

    /// The outcome of an upload.
    package enum Outcome: Sendable {
        /// It is stored, and the account may use what the purchase of the app gives.
        case stored
        /// The account may not use it.
        case withheld(WithheldReason)

        /// Nil where the account has what the purchase of the app gives.
        package var withheld: WithheldReason? {
            if case .withheld(let reason) = self { reason } else { nil }
        }
    }
}
