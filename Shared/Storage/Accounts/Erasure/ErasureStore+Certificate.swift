import Contracts

import struct Foundation.Date
import struct Foundation.UUID

extension ErasureStore {
    /// Proof of an erasure, without anything that names the customer.
    package struct Certificate: Sendable, Equatable {
        package var id: UUID
        package var environment: StoreEnvironment
        package var bundleId: String
        package var extent: Extent
        package var erasedAt: Date
        /// Records of the pipeline's topics that are older than the erasure are gone by then.
        package var topicsUntil: Date
        /// Number of purchases that the account owned or claimed.
        package var purchases: Int
        /// Number of signed payloads that were deleted.
        package var payloads: Int

        /// The subject of the erasure in the audit log.
        package var subject: String {
            "\(environment.rawValue) \(bundleId) certificate \(id.uuidString.lowercased())"
        }
    }
}
