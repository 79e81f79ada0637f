import Records

/// A verified notification whose notificationUUID was not seen before. Only the deduplicator creates one.
///
/// The record is the same as that of ``VerifiedNotification``; the topic and the type say more about it.
public struct UniqueNotification: TopicMessage, Hashable {
    /// What the verifier wrote.
    public let verified: VerifiedNotification

    /// The caller has checked that it was not seen before.
    public init(unchecked verified: VerifiedNotification) { self.verified = verified }

    /// As ``VerifiedNotification``.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Reads the message from a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        verified = try VerifiedNotification(record)
    }

    /// The record that carries the message.
    public func record() -> WireRecord { verified.record() }
}
