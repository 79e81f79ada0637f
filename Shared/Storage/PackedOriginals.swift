import struct Foundation.UUID

/// The signed originals of a batch, packed on all cores before the transaction begins: it is the longest part of the work
/// that needs no database, and nobody should wait for a lock meanwhile.
struct PackedOriginals: Sendable {
    /// The headers of all, each once.
    let headers: [[UInt8]]
    private let packed: [UUID: SignedOriginal]

    /// - Parameter entries: first of their uuids.
    init(of entries: [LedgerEntry]) async {
        let parts = stride(from: 0, to: entries.count, by: Self.share).map { first in
            entries[first..<min(first + Self.share, entries.count)]
        }
        packed = await withTaskGroup(of: [(UUID, SignedOriginal)].self) { group in
            for part in parts {
                group.addTask { part.map { ($0.notificationUUID, SignedOriginal(encoding: $0.signedPayload)) } }
            }
            return await group.reduce(into: [:]) { packed, part in packed.merge(part) { first, _ in first } }
        }
        headers = SignedOriginal.distinctHeaders(of: Array(packed.values))
    }

    /// So many are a task: much more than it costs to make one, and some for each core.
    private static let share = 32

    subscript(entry: LedgerEntry) -> SignedOriginal {
        packed[entry.notificationUUID] ?? SignedOriginal(encoding: entry.signedPayload)
    }
}
