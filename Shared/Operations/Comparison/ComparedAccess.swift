import struct Foundation.Date
import struct Foundation.TimeInterval

/// A stretch of time in which one side gives an entitlement, with what gives it.
struct ComparedSpan<Source: Sendable>: Sendable {
    var startsAt: Date
    /// The first moment without access; nil where it has no end.
    var endsAt: Date?
    var source: Source

    func contains(_ moment: Date) -> Bool { startsAt <= moment && (endsAt.map { moment < $0 } ?? true) }
}

/// The access of one side to an entitlement at a moment. Pure.
struct ComparedAccess<Source: Sendable>: Sendable {
    /// The span that gives access at the moment; of several the one that ends last.
    var now: ComparedSpan<Source>
    /// The span that gives access at its end: a later period, perhaps.
    var last: ComparedSpan<Source>
    /// Ends after the moment at which another period goes on, and that of the last one, where it has an end.
    var ends: [Date]

    /// Spans that begin at most so long after the end of another one go on with it: exports round to the second.
    private static var gap: TimeInterval { 1 }

    /// Nil where no span contains the moment.
    init?(at moment: Date, _ spans: [ComparedSpan<Source>]) {
        let end = { (span: ComparedSpan<Source>) in span.endsAt ?? .distantFuture }
        guard let now = spans.filter({ $0.contains(moment) }).max(by: { end($0) < end($1) }) else { return nil }
        self.now = now
        last = now
        ends = [now.endsAt].compactMap(\.self)
        while let until = last.endsAt,
            let next = spans.filter({ $0.startsAt <= until.addingTimeInterval(Self.gap) && end($0) > until }).max(by: {
                end($0) < end($1)
            })
        {
            last = next
            ends += [next.endsAt].compactMap(\.self)
        }
    }

    /// Nil where it has no end.
    var until: Date? { last.endsAt }
}

/// True where both sides say the same. A purchase since the file was written extends one of them: therefore it is enough where the
/// end of one side is an end of a period of the other.
func isSame<Ours, Others>(
    _ ours: ComparedAccess<Ours>?, _ others: ComparedAccess<Others>?, within tolerance: TimeInterval = 1
) -> Bool {
    guard let ours, let others else { return ours == nil && others == nil }
    guard let ourEnd = ours.until, let otherEnd = others.until else { return ours.until == nil && others.until == nil }
    func isNear(_ one: Date, _ other: Date) -> Bool { abs(one.timeIntervalSince(other)) <= tolerance }
    return ours.ends.contains { isNear($0, otherEnd) } || others.ends.contains { isNear($0, ourEnd) }
}
