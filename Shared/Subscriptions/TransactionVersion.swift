/// A signed version of a transaction, and the event that delivered it.
public struct TransactionVersion: Sendable, Equatable {
    /// What Apple signed.
    public var facts: TransactionFacts
    /// Of the event that held it.
    public var version: EventVersion

    /// - Parameter version: of the event that held the facts.
    public init(_ facts: TransactionFacts, version: EventVersion) {
        self.facts = facts
        self.version = version
    }

    /// Of one transaction the version signed later counts, then the one that a later event delivered.
    public func isOlder(than other: TransactionVersion) -> Bool {
        guard facts.signedDate == other.facts.signedDate else { return facts.signedDate < other.facts.signedDate }
        return version < other.version
    }
}
