/// An enumeration of Apple's that grows: a value that we do not know survives as it is.
///
/// A Swift enum was turned down: Apple adds cases every year, and a decode that fails on one would lose what it was
/// about.
public protocol OpenEnumeration: RawRepresentable, Sendable, Hashable {
    /// The values that Apple has documented so far.
    static var known: Set<Self> { get }
    /// Keeps any raw value.
    init(rawValue: RawValue)
}

extension OpenEnumeration {
    /// Whether Apple had documented this value when this was built.
    public var isKnown: Bool { Self.known.contains(self) }
}
