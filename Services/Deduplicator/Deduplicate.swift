import Contracts
import Pipeline
import Storage

import struct Foundation.Date

/// Is this the first sighting of the notificationUUID, or of other content under it?
struct Deduplicate: Stage {
    let sightings: SeenNotificationStore
    let now: @Sendable () -> Date

    func process(
        _ deliveries: [Delivery<VerifiedNotification>]
    ) async throws -> [StageResult<UniqueNotification, DeduplicateReason>] {
        let seenAt = now()
        let isFirst = try await sightings.markSeen(
            deliveries.map {
                SeenNotification(
                    notificationUUID: $0.message.notificationUUID, position: $0.position, seenAt: seenAt,
                    isRedelivery: $0.message.source.isRedelivery, content: Self.digest(of: $0.message.decoded))
            })
        return zip(deliveries, isFirst).map { delivery, isFirst in
            isFirst ? .forward(UniqueNotification(unchecked: delivery.message)) : .discard(.repeated)
        }
    }

    /// FNV-1a. Nobody but Apple can make the content, so it need only tell different ones apart.
    static func digest(of content: [UInt8]) -> Int64 {
        var digest: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in content { digest = (digest ^ UInt64(byte)) &* 0x100_0000_01b3 }
        return Int64(bitPattern: digest)
    }
}

/// Why a verified notification went no further.
enum DeduplicateReason: String, StageReason {
    case undecodable
    /// Another record holds the first sighting.
    case repeated

    var countsTowardsRejectionLimit: Bool { self == .undecodable }
}
