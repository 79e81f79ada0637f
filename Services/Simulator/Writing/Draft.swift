/// What is still to be written and signed.
struct Draft: Sendable, Equatable {
    var notice: Notice
    /// Nil for what is genuine.
    var forgery: Forgery?
    /// Whether it is to be sent once more when it has been accepted.
    var isToBeRepeated = false
}
