import Contracts

/// A notification as it is posted, with what the book says of it.
struct Letter: Sendable {
    var app: App
    var entry: SimulatorBook.Notification
    var payload: SealedPayload
    var isToBeRepeated = false

    /// `{"signedPayload":"…"}`, the same bytes at every attempt; composed anew, because thousands may wait.
    var body: [UInt8] { LetterWriter.body(signedPayload: payload.jws) }
}
