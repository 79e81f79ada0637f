/// What is still to be written and signed.
struct PendingNotification: Sendable, Equatable {
    var event: EventPayload
    /// Nil for what is genuine.
    var invalidVariant: InvalidVariant?
    /// Whether it is to be sent once more when it has been accepted.
    var isToBeRepeated = false
    /// When the app uploads the transaction; nil where it does not.
    var upload: UploadPlan.Moment?
}
