/// A signed version of a transaction, and the event that delivered it.
public struct TransactionVersion: Sendable, Equatable {
    /// What Apple signed about the transaction.
    public var facts: TransactionFacts
    /// The version of the event that held the transaction.
    public var version: EventVersion

    /// - Parameter version: the version of the event that held the facts.
    public init(_ facts: TransactionFacts, version: EventVersion) {
        self.facts = facts
        self.version = version
    }

    /// Whether `other`, a version of the same transaction, replaces this one: it was signed later, or at the same time and
    /// delivered by a later event.
    public func isOlder(than other: TransactionVersion) -> Bool {
        guard facts.signedDate == other.facts.signedDate else { return facts.signedDate < other.facts.signedDate }
        return version < other.version
    }
}
