/// The newest event of one name about one purchase: an event, a anomaly or an app that spoke of it.
///
/// Marks are all that is kept of a purchase beside its facts and transactions. They are written without looking at what
/// is known: of the same name the greater version stays.
public struct Mark: Sendable, Hashable {
    /// What kind of mark.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The name is an event, see ``PurchaseEvent/event``.
        case event
        /// The name is a ``Anomaly``.
        case anomaly
        /// The name is a bundle identifier.
        case app
    }

    /// With `name`, what the mark is stored under.
    public var kind: Kind
    /// Of the event, the anomaly or the app.
    public var name: String
    /// The newest event that made it.
    public var version: EventVersion
    /// The transaction which that event held.
    public var transactionId: String?

    /// All fields.
    public init(kind: Kind, name: String, version: EventVersion, transactionId: String?) {
        self.kind = kind
        self.name = name
        self.version = version
        self.transactionId = transactionId
    }
}

extension PurchaseEvent {
    /// What this event leaves behind beside facts: its event, its app and a mark for each anomaly.
    public var marks: [Mark] {
        let id = transaction?.transactionId
        let events = part == nil ? [Mark(kind: .event, name: eventName, version: version, transactionId: id)] : []
        return events + [Mark(kind: .app, name: bundleId, version: version, transactionId: id)]
            + anomalies.map { Mark(kind: .anomaly, name: $0.rawValue, version: version, transactionId: id) }
    }
}
