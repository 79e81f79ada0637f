import Records

/// A verified notification whose notificationUUID was not seen before. Only the deduplicator creates one.
///
/// The record is the same as that of ``VerifiedNotification``; the topic and the type say more about it. It is decoded by
/// ``notification()``, because that takes time that several cores can share.
public struct UniqueNotification: TopicMessage, Hashable {
    private let wire: WireRecord

    /// The caller has checked that it was not seen before.
    public init(unchecked verified: VerifiedRecord) { wire = verified.wire }

    /// As ``VerifiedNotification``.
    public static func needsSeal(_ record: WireRecord) -> Bool { true }

    /// Takes any record; ``notification()`` says whether it is one.
    public init(_ record: WireRecord) { wire = record }

    /// What the verifier wrote.
    public func notification() throws(ContractFault) -> VerifiedNotification { try VerifiedNotification(wire) }

    /// The record that carries the message.
    public func record() -> WireRecord { wire }
}
