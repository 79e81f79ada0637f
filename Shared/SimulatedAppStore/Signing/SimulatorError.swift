/// An error with a message for the operator.
struct SimulatorError: Error, CustomStringConvertible {
    var description: String

    init(_ description: String) { self.description = description }
}
