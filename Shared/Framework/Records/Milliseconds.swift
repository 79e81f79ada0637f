import struct Foundation.Date

extension Date {
    /// A date from Apple's unit, whole milliseconds since 1970.
    public init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// A date of a record, which any client may have written; nil for one that Postgres cannot store: its batch would
    /// be retried for ever.
    public init?(recorded milliseconds: Int64) {
        guard Self.recordable.contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// About the years -4650 to 287000, of which a `Double` tells the milliseconds.
    private static let recordable: ClosedRange<Int64> = -209_000_000_000_000...9_007_199_254_740_991

    /// The nearest whole millisecond: the one rounding of a moment that is asked about, so that Swift and SQL, which counts in
    /// microseconds, compare the same moment.
    public var atMilliseconds: Date { Date(milliseconds: milliseconds) }

    /// Whole milliseconds since 1970, rounded; the ends of Int64 where a date lies beyond them.
    public var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }
}
