import struct Foundation.Date

/// A finished span of a trace.
public struct TraceSpan: Sendable, Equatable {
    /// The kind of span, by OpenTelemetry's names.
    public enum Kind: UInt64, Sendable {
        case server = 2
        case client = 3
        case producer = 4
        case consumer = 5
    }

    /// A value of an attribute.
    public enum Value: Sendable, Equatable {
        case text(String)
        case number(Int64)
    }

    /// The trace, and this span's own id.
    public var context: TraceContext
    /// The parent span; nil for the first.
    public var parent: UInt64?
    /// Few values: `process notifications.received`.
    public var name: String
    /// The kind of span.
    public var kind: Kind
    /// By the wall clock.
    public var start: Date
    /// By the wall clock.
    public var end: Date
    /// By OpenTelemetry's semantic conventions where they have a name for it.
    public var attributes: [(key: String, value: Value)]
    /// Why it failed; nil where it did not.
    public var failure: String?

    package init(
        context: TraceContext, parent: UInt64?, name: String, kind: Kind, start: Date, end: Date,
        attributes: [(key: String, value: Value)] = [], failure: String? = nil
    ) {
        self.context = context
        self.parent = parent
        self.name = name
        self.kind = kind
        self.start = start
        self.end = end
        self.attributes = attributes
        self.failure = failure
    }

    /// Field by field, because tuples are not Equatable.
    public static func == (one: TraceSpan, other: TraceSpan) -> Bool {
        one.context == other.context && one.parent == other.parent && one.name == other.name && one.kind == other.kind
            && one.start == other.start && one.end == other.end && one.failure == other.failure
            && one.attributes.elementsEqual(other.attributes, by: ==)
    }
}
