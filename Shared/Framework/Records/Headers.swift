/// The names of headers that every pipeline has; an extension names those of its own messages.
public enum Headers {
    /// W3C trace context, passed on unchanged.
    public static let traceparent = "traceparent"
    /// Proves that a service of this deployment wrote the record: 32 bytes.
    public static let seal = "storekeeper-seal"
    /// The id of the event (CloudEvents 1.0), so that consumers can drop repeats.
    public static let cloudEventsId = "ce_id"

    // Dead letters: the source, the stage, and the reason.

    /// The service that rejected it.
    public static let deadLetterStage = "dead_letter_stage"
    /// The raw value of the stage's reason.
    public static let deadLetterReason = "dead_letter_reason"
    /// One sentence, at most 512 bytes.
    public static let deadLetterMessage = "dead_letter_message"
    /// The topic it was read from.
    public static let deadLetterTopic = "dead_letter_topic"
    /// The partition it was read from.
    public static let deadLetterPartition = "dead_letter_partition"
    /// The offset of the record.
    public static let deadLetterOffset = "dead_letter_offset"
    /// When it was rejected: milliseconds since 1970.
    public static let deadLetterTime = "dead_letter_time"
    /// How often it was processed, this time included.
    public static let deadLetterAttempts = "dead_letter_attempts"
    /// The version of the build that rejected it.
    public static let deadLetterBuild = "dead_letter_build"
}
