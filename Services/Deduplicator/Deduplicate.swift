import Contracts
import Pipeline
import Storage

import struct Foundation.Date

/// Decides whether a notificationUUID is new, repeated, or repeated with other content.
struct Deduplicate: Stage {
    let seen: SeenNotificationStore
    let now: @Sendable () -> Date

    func process(
        _ deliveries: [Delivery<VerifiedRecord>]
    ) async throws -> [StageResult<UniqueNotification, DeduplicateReason>] {
        let seenAt = now()
        let isFirst = try await seen.markSeen(
            deliveries.map {
                SeenNotification(
                    notificationUUID: $0.message.notificationUUID, position: $0.position, seenAt: seenAt,
                    isRedelivery: $0.message.source.isRedelivery,
                    content: $0.message.content)
            })
        return zip(deliveries, isFirst).map { delivery, isFirst in
            isFirst ? .forward(UniqueNotification(unchecked: delivery.message)) : .discard(.repeated)
        }
    }
}

/// Why a verified notification was not passed on.
enum DeduplicateReason: String, StageReason {
    case undecodable
    /// Another record has the same notificationUUID and content.
    case repeated

    var countsTowardsRejectionLimit: Bool { self == .undecodable }
}
