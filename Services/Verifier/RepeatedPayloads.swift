import AppStore
import Contracts
import Pipeline
import Records
import Synchronization

/// Recognises payloads that were posted before, by a digest of their bytes, before anything is verified.
///
/// Any client can post a captured payload thousands of times a second. A number of repeats a second is verified as any other
/// record, since Apple repeats notifications too. Beyond it, a repeat of what was passed on is dropped: the first one is
/// passed on for certain, because its position in Kafka moves on only after that. A repeat of what was rejected is decided in the slower lane.
///
/// Nothing is remembered once partitions are revoked. After an outage in which no batch was settled, two verifiers may swap
/// the partitions with a payload and its repeat: each would drop what it has now for what the other is to pass on.
final class RepeatedPayloads: Sendable {
    /// Repeats verified per second, and at once: more than Apple repeats.
    static let perSecond = 100
    private static let capacity = 16_384

    private struct First {
        /// The first record with these bytes. The same record is read again after a failure, and is no repeat.
        var position: LogPosition
        var wasForwarded = false
    }

    /// A batch without the repeats beyond the budget.
    struct Sorted {
        /// Of all deliveries; nil of those that are never repeats.
        var digests: [[UInt8]?]
        /// The deliveries to be verified.
        var indices: [Int]
    }

    private let budget: ChainBudget
    private let firsts = Mutex(BoundedTable<[UInt8], First>(capacity: capacity))
    private let revocations = Mutex(0)

    init(budget: ChainBudget) { self.budget = budget }

    /// Called before each batch.
    /// - Parameter revocations: how often partitions were revoked from this verifier.
    func forget(ifRevokedSince revocations: Int) {
        let isNew = self.revocations.withLock { known in
            defer { known = revocations }
            return known != revocations
        }
        if isNew { firsts.withLock { $0 = BoundedTable(capacity: Self.capacity) } }
    }

    func sorted(_ deliveries: [Delivery<ReceivedNotification>], digests: [[UInt8]?]) -> Sorted {
        firsts.withLock { firsts in
            Sorted(
                digests: digests,
                indices: deliveries.indices.filter { index in
                    guard let digest = digests[index] else { return true }
                    let position = deliveries[index].position
                    if let first = firsts[digest] { return first.position == position || budget.take() }
                    firsts[digest] = First(position: position)
                    return true
                })
        }
    }

    /// Notes what became of the verified ones.
    func note(_ results: [StageResult<VerifiedNotification, VerifyReason>], of sorted: Sorted) {
        firsts.withLock { firsts in
            for (index, result) in zip(sorted.indices, results) {
                guard case .forward = result, let digest = sorted.digests[index], var first = firsts[digest] else {
                    continue
                }
                first.wasForwarded = true
                firsts[digest] = first
            }
        }
    }

    func wasForwarded(_ digest: [UInt8]?) -> Bool {
        guard let digest else { return false }
        return firsts.withLock { $0[digest]?.wasForwarded ?? false }
    }
}
