import AppStore
import Contracts
import Kafka
import Pipeline
import Storage

/// What does a dead letter say of itself? Makes the index in which they are searched and by which a window learns that what
/// it waits for was refused.
struct IndexLetters: Stage {
    /// Kafka's id of the cluster, to which the positions belong.
    let cluster: @Sendable () async throws -> String

    func process(_ deliveries: [Delivery<DeadLetter>]) async throws -> [StageResult<RejectedRow, IndexReason>] {
        let cluster = try await cluster()
        return deliveries.map { delivery in
            let letter = delivery.message
            return .forward(
                RejectedRow(
                    cluster: cluster, position: delivery.position, stage: letter.stage.storable,
                    reason: letter.reason.storable, message: letter.message.storable, rejectedAt: letter.refusedAt,
                    claims: RejectedRow.Claims(letter)))
        }
    }
}

/// Why a dead letter is not in the index.
enum IndexReason: String, StageReason {
    case undecodable

    var countsTowardsRejectionLimit: Bool { true }
}

extension RejectedRow.Claims {
    /// What stages after the verifier refused is a message of ours; what the verifier refused is what somebody posted.
    init(_ letter: DeadLetter) {
        if let verified = try? VerifiedNotification(letter.original) {
            self.init(
                source: verified.source, receivedAt: verified.receivedAt,
                notificationUUID: verified.notificationUUID, environment: verified.environment.rawValue,
                bundleId: verified.bundleId.storable)
            return
        }
        let received = try? ReceivedNotification(letter.original)
        let claim = UncheckedNotification(received?.signedPayload ?? letter.original.value)
        self.init(
            source: received?.source, receivedAt: received?.receivedAt, notificationUUID: claim?.notificationUUID,
            environment: claim?.environment?.storable, bundleId: claim?.bundleId?.storable)
    }
}

/// Writes the index, then moves the position. Repeatable: a letter's place in the log is its key.
struct KeepLetters: Settlement {
    let rejected: RejectedStore
    let connection: WorkerConnection

    func settle(_ processed: ProcessedBatch<IndexLetters>) async throws -> Settled {
        try await connection.producer.send(connection.rejections.records(of: processed))
        _ = try await rejected.record(processed.forwarded.map(\.output))
        return try await connection.consumer.commit(processed)
    }
}
