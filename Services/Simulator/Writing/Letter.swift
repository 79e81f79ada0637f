import Contracts

/// A notification as it is posted, with what the book says of it.
struct Letter: Sendable {
    var entry: SimulatorBook.Notification
    /// `{"signedPayload":"…"}`, the same bytes at every attempt.
    var body: [UInt8]
    var isToBeRepeated = false
}
