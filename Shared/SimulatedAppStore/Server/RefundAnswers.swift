import Contracts
import Synchronization

/// What developers told about refund requests: every body that was taken, in order, by transaction.
final class RefundAnswers: Sendable {
    /// Nil without a record.
    private let record: RunRecordWriter?
    private let bodies = Mutex<[String: [[UInt8]]]>([:])

    /// - Parameter record: gets a line for each.
    init(record: RunRecordWriter? = nil) { self.record = record }

    /// - Throws: where the record cannot be written.
    func add(_ answer: RunRecord.RefundAnswer) throws {
        try record?.write(.refundAnswer(answer))
        bodies.withLock { $0[answer.transactionId, default: []].append(Array(answer.body.utf8)) }
    }

    /// With repeats.
    func bodies(about transactionId: String) -> [[UInt8]] { bodies.withLock { $0[transactionId] ?? [] } }

    /// The transactions that were answered.
    var transactions: Set<String> { bodies.withLock { Set($0.keys) } }
}
