import Synchronization

import struct Foundation.Date

/// Caches what was proven under exactly these bytes: bounded, for a limited time.
///
/// Only proofs are added, so a flood of forgeries neither grows it nor evicts anything. With the few
/// entries there are, comparing beats hashing: a lookup compares the length and then once 4 kilobytes.
final class ProofCache<Proof: Sendable>: Sendable {
    private final class Entry: Sendable {
        let key: [UInt8]
        let proof: Proof
        let completedAt: Date
        /// Seconds since 1970; finds the least recently used one.
        let lastUsed: Atomic<Int>

        init(key: [UInt8], proof: Proof, completedAt: Date) {
            self.key = key
            self.proof = proof
            self.completedAt = completedAt
            lastUsed = Atomic(Self.seconds(completedAt))
        }

        static func seconds(_ date: Date) -> Int { Int(clamping: Int64(date.timeIntervalSince1970)) }
    }

    private let capacity: Int
    private let lifetime: Double
    private let entries = Mutex<[Entry]>([])

    init(capacity: Int, lifetime: Double) {
        self.capacity = max(1, capacity)
        self.lifetime = lifetime
    }

    /// Number of cached proofs.
    var count: Int { entries.withLock(\.count) }

    /// All of them, in no order.
    var all: [Proof] { entries.withLock(\.self).map(\.proof) }

    func proof(for key: ArraySlice<UInt8>, now: Date) -> Proof? {
        // Compared outside the lock, on a copy of the list that costs a reference.
        let current = entries.withLock(\.self)
        guard let entry = current.first(where: { $0.key[...].hasSameBytes(as: key) }),
            abs(now.timeIntervalSince(entry.completedAt)) <= lifetime
        else { return nil }
        entry.lastUsed.store(Entry.seconds(now), ordering: .relaxed)
        return entry.proof
    }

    func insert(_ proof: Proof, for key: ArraySlice<UInt8>, now: Date) {
        let entry = Entry(key: Array(key), proof: proof, completedAt: now)
        entries.withLock { entries in
            entries.removeAll { $0.key == entry.key || abs(now.timeIntervalSince($0.completedAt)) > lifetime }
            if entries.count >= capacity,
                let oldest = entries.indices.min(by: {
                    entries[$0].lastUsed.load(ordering: .relaxed) < entries[$1].lastUsed.load(ordering: .relaxed)
                })
            {
                entries.remove(at: oldest)
            }
            entries.append(entry)
        }
    }
}
