import AppStore
import Synchronization

/// What the verifier spends on certificate chains that it has not proven, however many of them arrive.
///
/// A chain is looked at where it was seen most often, and for all records under it at once. So a verifier that has just started, to
/// which Apple's chain is as unknown as a forged one, proves Apple's within its first batches.
final class UnknownChains: Sendable {
    /// Chains that are remembered to have been seen, the latest ones.
    private static let capacity = 16_384
    /// Signatures checked under unknown chains per second, and at once.
    static let signaturesPerSecond = 200

    /// For proving a chain under which a signature was right.
    let proofs: ChainBudget
    /// For checking signatures under chains that are not proven.
    private let signatures: ChainBudget
    private let seen = Mutex(BoundedTable<[UInt8], Int>(capacity: capacity))

    init(proofs: ChainBudget, signatures: ChainBudget) {
        self.proofs = proofs
        self.signatures = signatures
    }

    /// The records of a batch by chain, in the order in which they are decided: first the chains that were seen before, the
    /// most frequent ahead.
    func waves(of chains: [[UInt8]: [Int]]) -> [[[Int]]] {
        let counted = seen.withLock { seen in
            chains.map { chain, records in
                let times = (seen[chain] ?? 0) + records.count
                seen[chain] = times
                return (times, records)
            }
        }
        let recurring = counted.filter { $0.0 > 1 }.sorted { $0.0 > $1.0 }.map(\.1)
        return [recurring, counted.filter { $0.0 == 1 }.map(\.1)]
    }

    /// Decides the records under one chain, until the chain is proven, rejected, or the budget is used up.
    /// - Parameters:
    ///   - isOpen: whether the chain is still unknown because the budget is used up.
    ///   - failedBefore: whether the record failed before its chain was looked at.
    /// - Returns: the records that were decided.
    func decide<Finding>(
        _ records: [Int], _ finding: (Int) -> Finding, isOpen: (Finding) -> Bool, failedBefore: (Finding) -> Bool
    ) -> [(Int, Finding)] {
        var decided: [(Int, Finding)] = []
        var isKnown = false
        for record in records {
            guard isKnown || signatures.take() else { break }
            let finding = finding(record)
            guard !isOpen(finding) else { break }
            isKnown = isKnown || !failedBefore(finding)
            decided.append((record, finding))
        }
        return decided
    }
}
