/// The result of a consumer's turn.
public enum ConsumerTurn: Sendable, Hashable {
    /// One to `limit` records; those of one partition are in order.
    case records([ConsumerRecord])
    /// The assigned partitions: look up where to start, and answer with `assign`. May be none, which needs an answer
    /// too. Repeated with every turn until it is answered.
    case assigned([TopicPartition])
    /// The revoked partitions: settle or drop the current batch, and answer with `unassign`. All records polled
    /// before were returned by earlier turns. Repeated with every turn until it is answered; the group waits for it.
    case revoked([TopicPartition])
    /// Nothing within the timeout.
    case idle
}
