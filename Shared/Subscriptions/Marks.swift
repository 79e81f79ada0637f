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
        if mark.stamp.supersedes(newest[name]?.stamp) { newest[name] = mark }
    }

    /// Keeps what the news leaves behind.
    public mutating func join(_ news: News) {
        for mark in news.marks { join(mark) }
    }

    /// Every mark, newest first.
    public var all: [Mark] {
        newest.values.sorted { left, right in
            guard left.stamp == right.stamp else { return left.stamp > right.stamp }
            return (left.kind.rawValue, left.name) < (right.kind.rawValue, right.name)
        }
    }

    /// The newest of one event; nil where it never happened.
    public subscript(_ happening: Happening) -> Mark? { newest[Name(kind: .event, name: happening.rawValue)] }

    /// The newest news with that doubt; nil where there was none.
    public subscript(_ doubt: Doubt) -> Mark? { newest[Name(kind: .doubt, name: doubt.rawValue)] }

    /// All apps that ever spoke of the purchase, sorted. More than one is a contradiction, see ``Doubt/otherApp``.
    public var bundleIds: [String] { newest.keys.filter { $0.kind == .app }.map(\.name).sorted() }

    /// What is doubtful about the purchase, in the order of ``Doubt``.
    public var doubts: [Doubt] {
        Doubt.allCases.filter { $0 == .otherApp ? bundleIds.count > 1 : self[$0] != nil }
    }
}
