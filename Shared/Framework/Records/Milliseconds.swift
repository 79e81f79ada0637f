import struct Foundation.Date

extension Date {
    /// A date from Apple's unit, whole milliseconds since 1970.
    public init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// The nearest whole millisecond: the one rounding of a moment that is asked about, so that Swift and SQL, which counts in
    /// microseconds, compare the same moment.
    public var atMilliseconds: Date { Date(milliseconds: milliseconds) }

    /// Whole milliseconds since 1970, rounded; the ends of Int64 where a date lies beyond them.
    public var milliseconds: Int64 {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: milliseconds) ?? (milliseconds < 0 ? .min : .max)
    }
}
