import AppStore
import Contracts
import Kafka
import Pipeline
import Records
import Storage

/// Indexes dead letters for searching, and so that windows learn of rejected notifications.
struct IndexDeadLetters: Stage {
    /// Kafka's cluster id, to which the offsets belong.
    let cluster: @Sendable () async throws -> String
    /// The quota of forged notifications, by reason.
    let quota: HourlyQuota

    func process(_ deliveries: [Delivery<DeadLetter>]) async throws -> [StageResult<RejectedRow, DeadLetterIndexReason>]
    {
        let cluster = try await cluster()
        return deliveries.map { delivery in
            let deadLetter = delivery.message
            let claims = RejectedRow.Claims(deadLetter)
            if deadLetter.isForged, claims.source?.isFromOutside ?? true,
                !quota.admits(deadLetter.reason, at: deadLetter.rejectedAt)
            {
                return .discard(.beyondQuota)
            }
            return .forward(
                RejectedRow(
                    cluster: cluster, position: delivery.position, stage: deadLetter.stage.storable,
                    reason: deadLetter.reason.storable, message: deadLetter.message.storable,
                    rejectedAt: deadLetter.rejectedAt,
                    build: deadLetter.build.storable, claims: claims))
        }
    }
}

/// Why a dead letter is not indexed.
enum DeadLetterIndexReason: String, StageReason {
    case undecodable
    /// One of many forgeries; its bytes are in the topic, and the verifier's metrics count it.
    case beyondQuota = "beyond-quota"

    var countsTowardsRejectionLimit: Bool { self == .undecodable }
}

extension DeadLetter {
    /// Rejected before Apple's signature was verified, so that any client can post any number of them.
    fileprivate var isForged: Bool {
        stage == ServiceName.verifier.name && VerificationFailureReason(rawValue: reason)?.isProven == false
    }
}

extension NotificationSource {
    /// What a service had from Apple itself is indexed without end: windows wait for it.
    fileprivate var isFromOutside: Bool { self == .webhook || self == .upload }
}

extension RejectedRow.Claims {
    /// Stages after the verifier reject verified notifications; the verifier rejects posted bodies.
    init(_ deadLetter: DeadLetter) {
        if let verified = try? VerifiedNotification(deadLetter.original) {
            self.init(
                source: verified.source, receivedAt: verified.receivedAt,
                notificationUUID: verified.notificationUUID, environment: verified.environment.rawValue,
                bundleId: verified.bundleId.storable)
            return
        }
        let received = try? ReceivedNotification(deadLetter.original)
        let claim = UncheckedNotification(received?.signedPayload ?? deadLetter.original.value)
        self.init(
            source: received?.source, receivedAt: received?.receivedAt, notificationUUID: claim?.notificationUUID,
            environment: claim?.environment?.storable, bundleId: claim?.bundleId?.storable)
    }
}

/// Stores the index, then commits the offset. Repeatable: the key is the dead letter's offset.
struct StoreDeadLetterIndex: Settlement {
    let rejected: RejectedStore
    let connection: WorkerConnection

    func settle(_ processed: ProcessedBatch<IndexDeadLetters>) async throws -> Settled {
        try await connection.deadLetters.write(processed)
        _ = try await rejected.record(processed.forwarded.map(\.output))
        return try await connection.consumer.commit(processed)
    }
}
