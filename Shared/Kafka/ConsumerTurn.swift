/// What a consumer's turn brought.
public enum ConsumerTurn: Sendable, Hashable {
    /// One to `limit` records; those of one partition are in order.
    case records([ConsumerRecord])
    /// These partitions are ours: look up where to start, and answer with `assign`. May be none, which wants an answer
    /// too. Comes again with every turn until it is answered.
    case assigned([TopicPartition])
    /// These partitions are being taken: settle or drop what is in hand, and answer with `unassign`. All records polled
    /// before were returned by earlier turns. Comes again with every turn until it is answered; the group waits for us.
    case revoked([TopicPartition])
    /// Nothing within the wait.
    case idle
}
