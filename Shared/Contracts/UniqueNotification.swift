/// A verified notification whose notificationUUID was not seen before. Only the deduplicator makes one of another.
///
/// The record is the same as that of ``VerifiedNotification``; the topic and the type say what more is known.
public struct UniqueNotification: TopicMessage, Hashable {
    /// The notification itself.
    public let verified: VerifiedNotification

    /// The caller vouches that this is the first sighting.
    public init(unchecked verified: VerifiedNotification) { self.verified = verified }

    /// As ``VerifiedNotification``.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Reads the message off a record.
    public init(_ record: WireRecord) throws(ContractFault) {
        verified = try VerifiedNotification(record)
    }

    /// The record that carries the message.
    public func record() -> WireRecord { verified.record() }
}
