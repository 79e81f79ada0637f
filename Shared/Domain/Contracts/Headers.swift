import Records

/// The names of the headers of our messages, once.
extension Headers {
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

    // CloudEvents 1.0, Kafka protocol binding, on the topics for other consumers. The id is the notificationUUID.

    /// Always 1.0.
    public static let cloudEventsVersion = "ce_specversion"
    /// `apple.app-store.` and the notificationType.
    public static let cloudEventsType = "ce_type"
    /// Environment and bundle id, as a path.
    public static let cloudEventsSource = "ce_source"
    /// The media type of the value.
    public static let contentType = "content-type"
}

extension Headers {
    /// The headers by which consumers recognize an event, whatever the topic: CloudEvents 1.0.
    static func cloudEvent(
        id: String, type: String, environment: StoreEnvironment, bundleId: String,
        contentType media: String = "application/json"
    ) -> [WireHeader] {
        [
            WireHeader(contentType, media), WireHeader(cloudEventsVersion, "1.0"),
            WireHeader(cloudEventsId, id), WireHeader(cloudEventsType, type),
            WireHeader(cloudEventsSource, "/\(environment.rawValue)/\(bundleId)"),
        ]
    }
}
