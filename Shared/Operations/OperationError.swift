/// What failed, why, and what to do, in one sentence for who asked.
package struct OperationError: Error, CustomStringConvertible, Equatable {
    /// What a face makes of it: a usage error, a page, a problem.
    package enum Kind: Sendable, Equatable {
        case failed
        /// A value of the request is outside of the operation's limits; its name.
        case invalid(String)
        case notFound
        /// The operation is unusual and was not confirmed.
        case unconfirmed
    }

    package var description: String
    package var kind: Kind

    package init(_ description: String, _ kind: Kind = .failed) {
        self.description = description
        self.kind = kind
    }
}
