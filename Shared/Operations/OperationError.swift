/// What failed, why, and what to do, in one sentence for who asked.
package struct OperationError: Error, CustomStringConvertible, Equatable {
    package var description: String

    package init(_ description: String) { self.description = description }
}
