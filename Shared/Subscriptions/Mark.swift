/// The newest news of one name about one purchase: an event, a doubt or an app that spoke of it.
///
/// Marks are all that is kept of a purchase beside its facts and transactions. They are written without looking at what
/// is known: of the same name the greater stamp stays.
public struct Mark: Sendable, Hashable {
    /// What kind of mark.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The name is an event, see ``News/event``.
        case event
        /// The name is a ``Doubt``.
        case doubt
        /// The name is a bundle identifier.
        case app
    }

    /// With `name`, what the mark is stored under.
    public var kind: Kind
    /// Of the event, the doubt or the app.
    public var name: String
    /// The newest news that made it.
    public var stamp: Stamp
    /// The transaction which that news held.
    public var transactionId: String?

    /// All fields.
    public init(kind: Kind, name: String, stamp: Stamp, transactionId: String?) {
        self.kind = kind
        self.name = name
        self.stamp = stamp
        self.transactionId = transactionId
    }
}

extension News {
    /// What this news leaves behind beside facts: its event, its app and a mark for each doubt.
    public var marks: [Mark] {
        let id = transaction?.transactionId
        let events = part == nil ? [Mark(kind: .event, name: event, stamp: stamp, transactionId: id)] : []
        return events + [Mark(kind: .app, name: bundleId, stamp: stamp, transactionId: id)]
            + doubts.map { Mark(kind: .doubt, name: $0.rawValue, stamp: stamp, transactionId: id) }
    }
}
