import Contracts
import Pipeline
import Storage

import struct Foundation.Date

/// Is this the first sighting of the notificationUUID?
struct Deduplicate: Stage {
    let sightings: SightingStore
    let now: @Sendable () -> Date

    func judge(
        _ deliveries: [Delivery<VerifiedNotification>]
    ) async throws -> [Verdict<UniqueNotification, DeduplicateReason>] {
        let seenAt = now()
        let isFirst = try await sightings.claim(
            deliveries.map {
                Sighting(
                    notificationUUID: $0.message.notificationUUID, position: $0.position, seenAt: seenAt,
                    isReclaim: $0.message.source.isReclaim)
            })
        return zip(deliveries, isFirst).map { delivery, isFirst in
            isFirst ? .forward(UniqueNotification(unchecked: delivery.message)) : .discard(.repeated)
        }
    }
}

/// Why a verified notification went no further.
enum DeduplicateReason: String, StageReason {
    case undecodable
    /// Another record holds the first sighting.
    case repeated

    var countsTowardsPoisonLimit: Bool { self == .undecodable }
}
