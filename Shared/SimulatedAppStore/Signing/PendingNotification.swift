/// A notification that is not yet built and signed.
struct PendingNotification: Sendable, Equatable {
    var event: EventPayload
    /// Nil for what is genuine.
    var invalidVariant: InvalidVariant?
    /// Whether it is sent again after it was accepted.
    var isToBeRepeated = false
    /// When the app uploads the transaction; nil where it does not.
    var upload: UploadPlan.Moment?
}
