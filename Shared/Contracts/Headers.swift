/// Every header name, once.
public enum Headers {
    /// How the notification was received: a raw value of ``NotificationSource``.
    public static let source = "source"
    /// When the notification was received: milliseconds since 1970.
    public static let receivedAt = "received_at"
    /// The app of a record whose content names none.
    public static let bundleId = "bundle_id"
    /// Apple's raw status of the subscription, on answers of Apple's API: see ``AnsweredStatus``.
    public static let status = "apple_status"
    /// When that status applied: milliseconds since 1970.
    public static let statusDate = "apple_status_date"
    /// W3C trace context, passed on unchanged.
    public static let traceparent = "traceparent"
    /// Proves that a service of this deployment wrote the record: 32 bytes.
    public static let seal = "storekeeper-seal"

    // CloudEvents 1.0, Kafka protocol binding, on the topics for other consumers.

    /// Always 1.0.
    public static let cloudEventsVersion = "ce_specversion"
    /// The notificationUUID, so that consumers can drop repeats.
    public static let cloudEventsId = "ce_id"
    /// `apple.app-store.` and the notificationType.
    public static let cloudEventsType = "ce_type"
    /// Environment and bundle id, as a path.
    public static let cloudEventsSource = "ce_source"
    /// The media type of the value.
    public static let contentType = "content-type"

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

extension Headers {
    /// The headers by which consumers recognize an event, whatever the topic: CloudEvents 1.0 with a JSON value.
    static func cloudEvent(
        id: String, type: String, environment: StoreEnvironment, bundleId: String
    ) -> [WireHeader] {
        [
            WireHeader(contentType, "application/json"), WireHeader(cloudEventsVersion, "1.0"),
            WireHeader(cloudEventsId, id), WireHeader(cloudEventsType, type),
            WireHeader(cloudEventsSource, "/\(environment.rawValue)/\(bundleId)"),
        ]
    }
}
