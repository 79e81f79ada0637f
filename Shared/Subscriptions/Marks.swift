/// All marks of one purchase, the newest of each name.
public struct Marks: Sendable, Equatable {
    private struct Name: Hashable, Sendable {
        var kind: Mark.Kind
        var name: String
    }

    private var newest: [Name: Mark] = [:]

    /// In any order, with any repetitions.
    public init(_ marks: some Sequence<Mark> = []) {
        for mark in marks { join(mark) }
    }

    /// Keeps the mark unless a newer one of its name is there.
    public mutating func join(_ mark: Mark) {
        let name = Name(kind: mark.kind, name: mark.name)
        if mark.version.supersedes(newest[name]?.version) { newest[name] = mark }
    }

    /// Keeps what the event leaves behind.
    public mutating func join(_ event: PurchaseEvent) {
        for mark in event.marks { join(mark) }
    }

    /// Every mark, newest first.
    public var all: [Mark] {
        newest.values.sorted { left, right in
            guard left.version == right.version else { return left.version > right.version }
            return (left.kind.rawValue, left.name) < (right.kind.rawValue, right.name)
        }
    }

    /// The newest of one event; nil where it never happened.
    public subscript(_ eventType: EventType) -> Mark? { newest[Name(kind: .event, name: eventType.rawValue)] }

    /// The newest event with that anomaly; nil where there was none.
    public subscript(_ anomaly: Anomaly) -> Mark? { newest[Name(kind: .anomaly, name: anomaly.rawValue)] }

    /// All apps that ever spoke of the purchase, sorted. More than one is a contradiction, see ``Anomaly/otherApp``.
    public var bundleIds: [String] { newest.keys.filter { $0.kind == .app }.map(\.name).sorted() }

    /// What is doubtful about the purchase, in the order of ``Anomaly``.
    public var anomalies: [Anomaly] {
        Anomaly.allCases.filter { $0 == .otherApp ? bundleIds.count > 1 : self[$0] != nil }
    }
}
