import Digests

import struct Foundation.Date
import struct Foundation.UUID

/// The Idempotency-Key of a request, and the ids of what the request makes.
///
/// The ids are derived: the same request again has the same ones, so it finds what it has made where the answer was lost. They differ
/// by day, because a key that is used again after 24 hours stands for a new request; a repeat looks for what was made on the day
/// before, too.
struct IdempotencyClaim: Sendable {
    let name: String
    /// Tells this execution of the request from a later one.
    let claimedAt: Date
    /// The id of the grant, certificate or extension that the request makes.
    let id: UUID
    /// The id that the same request would have used on the day before.
    private let earlier: UUID
    /// Anything made before it belongs to another request with the same key.
    let start: Date

    /// - Parameters:
    ///   - key: the API key.
    ///   - digest: of operation, path and body.
    init(_ name: String, of key: UUID, digest: [UInt8], at now: Date) {
        let day = Int64((now.timeIntervalSince1970 / Idempotency.retention).rounded(.down))
        self.name = name
        claimedAt = now
        id = Self.id(name, key, digest, day)
        earlier = Self.id(name, key, digest, day - 1)
        start = now.addingTimeInterval(-Idempotency.retention)
    }

    /// What the request may have made before, the likelier first.
    var ids: [UUID] { [id, earlier] }

    /// Whether something was made by this request.
    /// - Parameter moment: when it was made.
    func made(_ id: UUID, at moment: Date) -> Bool { ids.contains(id) && moment > start }

    private static func id(_ name: String, _ key: UUID, _ digest: [UInt8], _ day: Int64) -> UUID {
        // A name has no zero byte, and the others have one length.
        let text = "storekeeper idempotency 1\0\(key.uuidString)\0\(name)\0\(day)\0"
        let hash = SHA256Hash.digest(Array(text.utf8) + digest)
        // Version 8: made by a rule of our own.
        return UUID(
            uuid: (
                hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6] & 0x0f | 0x80, hash[7],
                hash[8] & 0x3f | 0x80, hash[9], hash[10], hash[11], hash[12], hash[13], hash[14], hash[15]
            ))
    }
}
