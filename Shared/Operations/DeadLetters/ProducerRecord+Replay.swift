import Contracts
import Kafka
import Pipeline
import Records

extension ProducerRecord {
    /// The signed payload of a dead letter for the first topic; a record without one goes back to its own topic,
    /// unchanged.
    ///
    /// What our services say beside Apple's signature is replayed only where the record is authentic.
    package init(replaying deadLetter: DeadLetter, authenticatedBy seal: RecordSeal = RecordSeal()) {
        let original = deadLetter.original
        let received = try? ReceivedNotification(original)
        let verified = try? VerifiedNotification(original)
        if Topics.unverified.contains(deadLetter.position.topic) {
            self.init(
                Topics.received,
                ReceivedNotification(
                    signedPayload: original.value, source: .replay,
                    receivedAt: received?.receivedAt ?? deadLetter.rejectedAt, bundleId: received?.bundleId,
                    status: seal.isValid(original) ? received?.status : nil,
                    traceparent: received?.traceparent))
        } else if let verified, let signedPayload = try? verified.signedPayload {
            self.init(
                Topics.received,
                ReceivedNotification(
                    // Version 1 has no signature: what is kept of it is what was posted, without receipts and the secret.
                    signedPayload: verified.isVersion1 ? verified.decoded : signedPayload, source: .replay,
                    receivedAt: verified.receivedAt,
                    bundleId: verified.bundleId, traceparent: verified.traceparent))
        } else {
            self.init(
                topic: deadLetter.position.topic, key: original.key, value: original.value,
                headers: original.headers.map { RecordHeader(name: $0.name, value: $0.value) })
        }
    }
}
