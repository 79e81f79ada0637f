import Synchronization

/// What developers told about refund requests: every body that was taken, in order, by transaction.
final class RefundAnswers: Sendable {
    private let bodies = Mutex<[String: [[UInt8]]]>([:])

    func add(_ body: [UInt8], about transactionId: String) {
        bodies.withLock { $0[transactionId, default: []].append(body) }
    }

    /// With repeats.
    func bodies(about transactionId: String) -> [[UInt8]] { bodies.withLock { $0[transactionId] ?? [] } }

    /// The transactions that were answered.
    var transactions: Set<String> { bodies.withLock { Set($0.keys) } }
}
